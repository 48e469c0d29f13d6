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

// recorder is the interface to a capture session.
type recorder interface {
	// Watch adds a process and its descendants.
	Watch(pid int) error
	// Run records until ctx ends or nothing is left to watch.
	Run(ctx context.Context) error
	Close() error
}

// openRecorder opens a recorder that writes to sink. The second result returns the recorder's current status, at any
// time.
type openRecorder func(sink *recordingFile, how captureOptions) (recorder, func() pulse, error)

// captureOptions are the options of a capture session that the command sets.
type captureOptions struct {
	target  string // how the target was chosen, for the manifest
	stacks  capture.Stacks
	probes  probeOptions
	refuse  []string              // programs to treat as if the kernel refused them: for tests
	gate    int                   // pid of a process that waits to become the service
	soon    bool                  // begin when threads and connections are watched; slower hooks join later
	begun   func()                // called when recording begins
	joined  func()                // called when all possible hooks are active
	entered func() ([]int, error) // processes to watch as well, as in capture.Options
	groups  []string              // their control groups
}

// recordOptions say what to record, and for how long.
type recordOptions struct {
	command  string       // for messages
	open     openRecorder //
	path     string       // of the recording; "": a name made from the time
	private  bool         // a temporary recording without a name
	capture  captureOptions
	pids     []int                    // roots of the process trees
	view     bool                     // its page is wanted from the beginning
	judging  judging                  // the bounds for its verdicts
	page     *openPage                // the page, if wanted
	announce bool                     // say that recording has begun
	only     bool                     // no other recording follows: rights can be dropped
	starts   bool                     // programs are started that may have to be ended
	helper   func() (*os.File, error) // the process that keeps dropped rights, or why there is none
	runs     bool                     // other programs are started afterwards
	places   []string                 // directories in which files are renamed and removed afterwards
	length   time.Duration            // 0: until interrupted
	size     fileSize                 // at which recording ends; 0: never
	begin    func() error             // called when everything is watched, before anything else
	until    <-chan struct{}          // ends the recording, if not nil
	filled   <-chan struct{}          // closed when the file has its maximum size
	worth    func(*recorded) bool     // whether the recording is worth keeping, if not nil
}

// recorded is the result.
type recorded struct {
	path        string
	held        *os.File       // the recording, open for reading; nil: open it by its path
	file        *recordingFile // of a private recording, which the caller reads and closes
	last        pulse
	command     string    // the command that recorded
	page        *openPage // the page, if wanted; nil: none
	interrupted bool      // ended by a signal
	timedOut    bool      // ended because its length or its size was reached
	judging     judging   // the bounds for its verdicts
}

// errNotBegun is the error for a signal that came while the programs were being loaded.
var errNotBegun = errors.New("interrupted before recording began")

// record makes a recording. After an error before anything was recorded, it leaves no file and replaces none. After a
// later error it keeps what was recorded, and names it in the error.
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
		file.begun = func() { fmt.Fprintln(w.err, o.announcement()) } // scripts wait for this line
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
		session.Close() // while its priority is high, because closing takes locks of the service
		standBack()
	}
	return r, nil
}

// getHelper starts the process that keeps dropped rights. It is called when the processes of the target are already
// watched, so that the helper is not one of them, and before recording begins, so that recording does not wait for it.
// If the helper was not used, it ends when the returned function is called.
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

// surviveClosedOutput lets dwell continue when nothing reads its output any more, until the returned function is
// called. Processes that it starts meanwhile are not affected, as they would be if the signal were ignored.
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

// end closes the file of a recording that ended with err, and keeps the file if it is worth keeping.
func (o *recordOptions) end(file *recordingFile, r *recorded, err error) error {
	if closed := file.close(); err == nil { // otherwise it repeats the same error
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

// refusedOnDemand returns the groups of programs, or programs, that DWELL_REFUSE names.
func refusedOnDemand(w world) []string {
	return strings.FieldsFunc(w.getenv("DWELL_REFUSE"), func(r rune) bool { return r == ',' })
}

// slowLoad is the delay after which a user wonders what happens. Recordings that are impossible fail sooner.
const slowLoad = 500 * time.Millisecond

// sayIfSlow prints something if the following work takes long. The returned function must be called at its end; after
// that nothing is printed.
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

// errInterrupted is the error for a recording that a signal ended.
var errInterrupted = errors.New("interrupted")

// run records until the time is over (context.DeadlineExceeded), the file has reached its maximum size
// (capture.ErrFull), a signal ends the context (errInterrupted), or the target has ended (nil).
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

// ready opens a session that watches the target. A signal ends the wait for it at once: on a busy host the kernel
// takes long to check the programs.
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

// watch adds all process trees to a session; if that fails it closes the session. If there are several, one that has
// ended since it was chosen is left out.
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

// start does what has to begin when everything is watched.
func (o *recordOptions) start() error {
	if o.begin == nil {
		return nil
	}
	return o.begin()
}
