package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
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
	target string // how the target was chosen, for the manifest
	stacks capture.Stacks
	probes probeOptions
	gate   int // pid of a process that waits to become the service
}

// recordOptions say what to record, and for how long.
type recordOptions struct {
	command  string       // for messages
	open     openRecorder //
	path     string       // of the recording; "" names it by the time
	capture  captureOptions
	pids     []int           // roots of the process trees
	announce bool            // say that recording has begun
	only     bool            // no other recording follows: rights can go
	length   time.Duration   // 0: until interrupted
	begin    func() error    // called when all is watched, before anything else
	until    <-chan struct{} // ends the recording, if not nil
}

// recorded is what came of it.
type recorded struct {
	path        string
	last        pulse
	interrupted bool // ended by a signal
	timedOut    bool // ended because its length was reached
}

// errNotBegun is a signal that came while the programs were being loaded.
var errNotBegun = errors.New("interrupted before recording began")

// record makes a recording. After an error before anything was recorded, no file is
// left; after one later, what was recorded is kept and named in the error.
func record(ctx context.Context, w world, o recordOptions) (*recorded, error) {
	file, err := createRecording(o.path, time.Now(), whoInvoked(w.getenv))
	if err != nil {
		return nil, fmt.Errorf("dwell %s: %w", o.command, err)
	}
	signalled, stopNotify := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stopNotify()
	loaded := func() {}
	if o.announce {
		loaded = sayIfSlow(w.err, slowLoad, "loading what records; some seconds")
	}
	session, read, err := o.open(file, o.capture)
	loaded()
	if err != nil {
		file.discard()
		return nil, fmt.Errorf("dwell %s: %w", o.command, err)
	}
	defer session.Close()
	if why := read().noStacks; why != "" {
		fmt.Fprintln(w.err, why)
	}
	if err = signalled.Err(); err == nil { // loading the programs takes a second or two
		err = o.prepare(session)
	}
	if err != nil && signalled.Err() != nil {
		err = fmt.Errorf("dwell %s: %w", o.command, errNotBegun)
	}
	if err != nil {
		file.discard()
		return nil, err
	}
	if o.only && w.dropRights != nil {
		if err := w.dropRights(); err != nil {
			fmt.Fprintf(w.err, "%v (recording goes on with all rights)\n", err)
		}
	}
	began := time.Now()
	live := func() pulse {
		p := read()
		p.elapsed = time.Since(began)
		return p
	}
	r := &recorded{path: file.path}
	err = o.run(signalled, w, session, live)
	stopNotify() // a second signal ends dwell at once
	r.interrupted, r.timedOut = errors.Is(err, errInterrupted), errors.Is(err, context.DeadlineExceeded)
	if r.interrupted || r.timedOut {
		err = nil
	}
	r.last = live()
	if err := errors.Join(err, file.close()); err != nil {
		return nil, fmt.Errorf("dwell %s: %w (what was recorded until then is in %s)", o.command, err, r.path)
	}
	if o.only {
		session.Close() // before: it takes locks of the service
		standBack()
	}
	return r, nil
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

// run records until the time is over (context.DeadlineExceeded), a signal asks to stop
// by ending the context (errInterrupted), or the target has ended (nil).
func (o *recordOptions) run(signalled context.Context, w world, session recorder, live func() pulse) error {
	ctx, cancel := context.WithCancel(signalled)
	if o.length > 0 {
		ctx, cancel = context.WithTimeout(signalled, o.length)
	}
	defer cancel()
	if o.until != nil {
		go func() {
			select {
			case <-o.until:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	if o.announce {
		fmt.Fprintln(w.err, o.announcement()) // scripts wait for it
	}
	status := showStatus(w.err, live)
	defer status.end()
	switch err := session.Run(ctx); {
	case err != nil:
		return err
	case signalled.Err() != nil:
		return errInterrupted
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
	if o.length > 0 {
		return fmt.Sprintf("recording for %s (Ctrl-C ends it early)", o.length)
	}
	return "recording (Ctrl-C ends it)"
}

func (o *recordOptions) prepare(session recorder) error {
	for _, pid := range o.pids {
		if err := session.Watch(pid); err != nil {
			return fmt.Errorf("dwell %s: %w", o.command, err)
		}
	}
	if o.begin == nil {
		return nil
	}
	return o.begin()
}
