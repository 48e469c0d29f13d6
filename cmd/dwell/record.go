package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/getdwell/dwell/internal/capture"
)

// recorder is what is needed of a capture session.
type recorder interface {
	// Watch adds a process and everything below it.
	Watch(pid int) error
	// Run records until ctx ends or nothing is left to watch.
	Run(ctx context.Context) error
	Close() error
}

// openRecorder opens a recorder that writes to sink. The second result reads what it
// knows so far, at any time.
type openRecorder func(sink *recordingFile, how captureOptions) (recorder, func() pulse, error)

// captureOptions are those of a capture session that the command chooses.
type captureOptions struct {
	target  string // how the target was chosen, for the manifest
	stacks  capture.Stacks
	probes  probeOptions
	refuse  []string              // what is treated as if the kernel refused it: for tests
	gate    int                   // pid of a process that waits to become the service
	soon    bool                  // begin when threads and connections are watched; what takes longer joins
	begun   func()                // called when recording begins
	joined  func()                // called when all is recorded that can be
	entered func() ([]int, error) // who is to be watched as well, as capture.Options has it
	groups  []string              // in which control groups they are
}

// recordOptions say what to record, and for how long.
type recordOptions struct {
	command  string       // for messages
	open     openRecorder //
	path     string       // of the recording; "" names it by the time
	private  bool         // nobody keeps the recording: it has no name
	capture  captureOptions
	pids     []int                    // roots of the process trees
	view     bool                     // its page is wanted, from the beginning
	judging  judging                  // what its verdicts are held against
	page     *openPage                // that is wanted
	announce bool                     // say that recording has begun
	only     bool                     // no other recording follows: rights can go
	starts   bool                     // programs are started that may have to be ended
	helper   func() (*os.File, error) // what keeps rights that are given up, or why there is none
	runs     bool                     // others are started when it is over
	places   []string                 // where files are renamed and removed when it is over
	length   time.Duration            // 0: until interrupted
	size     fileSize                 // at which it ends; 0: never
	begin    func() error             // called when all is watched, before anything else
	until    <-chan struct{}          // ends the recording, if not nil
	filled   <-chan struct{}          // closed when the file has its size
	worth    func(*recorded) bool     // whether what was recorded is worth keeping, if not nil
}

// recorded is what came of it.
type recorded struct {
	path        string
	held        *os.File       // it, open for reading; nil: it is read by its path
	file        *recordingFile // of a private one, which the caller reads and closes
	last        pulse
	command     string    // that recorded
	page        *openPage // that is wanted; nil: none is
	interrupted bool      // ended by a signal
	timedOut    bool      // ended because its length or its size was reached
	judging     judging   // its verdicts are held against
}

// errNotBegun is a signal that came while the programs were being loaded.
var errNotBegun = errors.New("interrupted before recording began")

// record makes a recording. After an error before anything was recorded, no file is
// left, and none replaced; after one later, what was recorded is kept and named in the error.
func record(ctx context.Context, w world, o recordOptions) (r *recorded, err error) {
	if o.view {
		if o.page, err = newPage(o.command, 0); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				o.page.close()
			}
		}()
	}
	return o.record(ctx, w)
}

func (o *recordOptions) record(ctx context.Context, w world) (*recorded, error) {
	file, err := o.create(w)
	if err != nil {
		return nil, fmt.Errorf("dwell %s: %w", o.command, err)
	}
	o.filled = file.file.limitTo(o.size)
	held := file.again()
	o.places = file.place.open()
	signalled, stopNotify := signal.NotifyContext(ctx, endings()...)
	defer stopNotify()
	defer surviveClosedOutput()()
	if o.announce {
		file.begun = func() { fmt.Fprintln(w.err, o.announcement()) } // scripts wait for it
	}
	var began time.Time
	var read func() pulse
	o.yieldRights(w, func() { o.joined(w, read(), time.Since(began)) })
	session, read, err := o.ready(signalled, w, file)
	if err == nil {
		defer session.Close()
		defer o.getHelper(w)()
		defer o.getPages(w, file.path, held)()
		err = o.start()
	}
	if err != nil {
		file.discard()
		return nil, err
	}
	began = time.Now()
	live := func() pulse {
		p := read()
		p.elapsed = time.Since(began)
		return p
	}
	if o.page != nil {
		o.page.follow(file.path, live)
	}
	r := &recorded{path: file.path, held: held, command: o.command, page: o.page, judging: o.judging}
	err = o.run(signalled, w, session, live)
	stopNotify() // a second signal ends dwell at once
	full := errors.Is(err, capture.ErrFull)
	r.interrupted, r.timedOut = errors.Is(err, errInterrupted), full || errors.Is(err, context.DeadlineExceeded)
	if r.interrupted || r.timedOut {
		err = nil
	}
	r.last = live()
	if err := o.end(file, r, err); err != nil {
		return nil, err
	}
	if full {
		saySize(w, o.size)
	}
	if o.only {
		session.Close() // before: it takes locks of the service
		standBack()
	}
	return r, nil
}

// getHelper starts what keeps rights that are given up: it is none of those that are watched by now, and would
// be waited for later. If it was not asked it ends when what is returned is called.
func (o *recordOptions) getHelper(w world) (end func()) {
	if !o.only || w.startHelper == nil {
		return func() {}
	}
	helper, err := w.startHelper()
	o.helper = func() (*os.File, error) { return helper, err }
	return func() { helper.Close() }
}

// endings are the signals that ask dwell to end.
func endings() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// surviveClosedOutput lets dwell go on where nobody reads any more what it says, until the function it
// returns is called. What it starts meanwhile is not concerned, as it would be if the signal were ignored.
func surviveClosedOutput() (over func()) {
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	return func() { signal.Stop(unread) }
}

func (o *recordOptions) create(w world) (*recordingFile, error) {
	if o.private {
		return createPrivate()
	}
	return createRecording(o.path, time.Now(), whoInvoked(w.getenv))
}

// end closes the file of a recording that ended with err, and keeps it if that is worth it.
func (o *recordOptions) end(file *recordingFile, r *recorded, err error) error {
	if closed := file.close(); err == nil { // else it says the same once more
		err = closed
	}
	switch {
	case err != nil && !file.taken:
		file.discard()
		return fmt.Errorf("dwell %s: %w", o.command, err)
	case err != nil:
		file.keep()
		return fmt.Errorf("dwell %s: %w (what was recorded until then is in %s)", o.command, err, r.path)
	case o.private:
		r.file = file
	case o.worth != nil && !o.worth(r):
		file.discard()
	case file.replaces() && !r.timedOut && r.last.requests == 0 && r.last.elapsed < worthKeeping:
		file.discard()
		return fmt.Errorf("dwell %s: nothing was recorded in %s (%s still holds what it did)", o.command, short(r.last.elapsed), r.path)
	default:
		file.keep()
	}
	return nil
}

// refusedOnDemand are groups of programs, or programs, that DWELL_REFUSE names.
func refusedOnDemand(w world) []string {
	return strings.FieldsFunc(w.getenv("DWELL_REFUSE"), func(r rune) bool { return r == ',' })
}

// slowLoad is after how long somebody wonders what is going on. What cannot be recorded at all fails sooner.
const slowLoad = 500 * time.Millisecond

// sayIfSlow says something if what follows takes long: until the function it returns is called, which must
// be, and after which nothing is said.
func sayIfSlow(out io.Writer, long time.Duration, what string) (over func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-stop:
		case <-time.After(long):
			fmt.Fprintln(out, what)
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// errInterrupted says that a signal ended a recording.
var errInterrupted = errors.New("interrupted")

// run records until the time is over (context.DeadlineExceeded), the file has its size
// (capture.ErrFull), a signal asks to stop by ending the context (errInterrupted), or the
// target has ended (nil).
func (o *recordOptions) run(signalled context.Context, w world, session recorder, live func() pulse) error {
	whole, end := context.WithCancelCause(signalled)
	defer end(nil)
	ctx, cancel := whole, func() {}
	if o.length > 0 {
		ctx, cancel = context.WithTimeout(whole, o.length)
	}
	defer cancel()
	go func() {
		select {
		case <-o.until:
			end(nil)
		case <-o.filled:
			end(capture.ErrFull)
		case <-ctx.Done():
		}
	}()
	status := showStatus(w.err, live)
	defer status.end()
	switch err := session.Run(ctx); {
	case err != nil:
		return err
	case signalled.Err() != nil:
		return errInterrupted
	case errors.Is(context.Cause(ctx), capture.ErrFull):
		return capture.ErrFull
	default:
		return deadline(ctx)
	}
}

// deadline returns ctx's error if its time is over.
func deadline(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func (o *recordOptions) announcement() string {
	text := "recording (Ctrl-C ends it)"
	if o.length > 0 {
		text = fmt.Sprintf("recording for %s (Ctrl-C ends it early)", o.length)
	}
	if o.page != nil {
		text += "\n" + o.page.address() + "\nshows how it goes, what there is so far to who asks, and its page when it is over"
	}
	return text
}

// ready opens a session that watches what is to be recorded. A signal ends the wait for it
// at once: on a host with nothing to spare the kernel takes long to check the programs.
func (o *recordOptions) ready(signalled context.Context, w world, sink *recordingFile) (recorder, func() pulse, error) {
	type readied struct {
		session recorder
		read    func() pulse
		err     error
	}
	if o.announce {
		defer sayIfSlow(w.err, slowLoad, "loading what records; some seconds")()
	}
	o.capture.refuse = refusedOnDemand(w)
	came := make(chan readied, 1)
	go func() {
		session, read, err := o.open(sink, o.capture)
		if err == nil {
			err = o.watch(signalled, session)
		}
		came <- readied{session, read, err}
	}()
	var got readied
	select {
	case got = <-came:
	case <-signalled.Done():
		go func() {
			if late := <-came; late.err == nil {
				late.session.Close()
			}
		}()
		return nil, nil, fmt.Errorf("dwell %s: %w", o.command, errNotBegun)
	}
	if got.err == nil {
		return got.session, got.read, nil
	}
	if signalled.Err() != nil {
		got.err = errNotBegun
	}
	return nil, nil, fmt.Errorf("dwell %s: %w", o.command, got.err)
}

// watch adds all process trees to a session, which is closed if that fails. One of several that has ended since
// it was chosen is left out.
func (o *recordOptions) watch(signalled context.Context, session recorder) error {
	var ended error
	watched := len(o.pids)
	for _, pid := range o.pids {
		err := signalled.Err()
		if err == nil {
			err = session.Watch(pid)
		}
		if errors.Is(err, capture.ErrEnded) {
			ended, err = err, nil
			watched--
		}
		if err != nil {
			return errors.Join(err, session.Close())
		}
	}
	if watched == 0 && ended != nil {
		return errors.Join(ended, session.Close())
	}
	return nil
}

// start begins what is to begin when all is watched.
func (o *recordOptions) start() error {
	if o.begin == nil {
		return nil
	}
	return o.begin()
}
