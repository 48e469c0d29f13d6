package elffile

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxWaiting is how many threads wait for file systems at a time, including those that were given up: the kernel ends
// such a wait only with the process.
const maxWaiting = 32

// ErrStalled means that a file system did not answer in time.
var ErrStalled = errors.New("its file system does not answer")

// ErrStill is the ErrStalled of an operation that was not started because another wait for the same file system
// continues.
var ErrStill = fmt.Errorf("%w", ErrStalled)

// ErrCrowded means that an operation was not started because too many threads wait.
var ErrCrowded = fmt.Errorf("not asked for: %d threads wait already for file systems that do not answer", maxWaiting)

// Unanswered reports whether an error means that there was no answer: nothing is known about the file then.
func Unanswered(err error) bool { return errors.Is(err, ErrStalled) || errors.Is(err, ErrCrowded) }

// Device distinguishes file systems; 0 if it is not known.
type Device uint64

// pending are the waits of this process, because the process has a limited number of threads.
var pending = &waits{silent: map[Device]int{}}

// waits tracks the threads that wait for file systems.
type waits struct {
	mu     sync.Mutex
	all    int
	given  int            // number of those that were given up
	silent map[Device]int // number of waits given up, by device
	open   []io.Closer    // files to be closed by a given-up wait that returns
}

// wait is one such wait.
type wait struct {
	on             Device
	givenUp, ended bool
}

// ErrWaiting means that a thread waits, for an unlimited time, for a file system that does not answer.
var ErrWaiting = errors.New("a thread waits for a file system that does not answer")

// UnlessWaiting does something in which every thread of this process has to take part. Meanwhile it prevents new
// waits for file systems. It fails with ErrWaiting if a given-up wait continues, because all threads would wait for
// it.
func UnlessWaiting(do func() error) error {
	for until := time.Now().Add(2 * patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if done, err := pending.unless(do); done {
			return err
		}
	}
	return ErrWaiting
}

func (w *waits) unless(do func() error) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.given > 0:
		return true, ErrWaiting
	case w.all > 0: // they return in time, or are given up
		return false, nil
	}
	return true, do()
}

// begin refuses a wait for a device that does not answer, and a wait beyond the limit.
func (w *waits) begin(on Device) (*wait, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.silent[on] > 0:
		return nil, ErrStill
	case w.all >= maxWaiting:
		return nil, ErrCrowded
	}
	w.all++
	return &wait{on: on}, nil
}

// giveUp gives up a wait. It returns false if the result has arrived meanwhile.
func (w *waits) giveUp(this *wait) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	this.givenUp = !this.ended
	if !this.givenUp {
		return false
	}
	w.given++
	if this.on != 0 {
		w.silent[this.on]++
	}
	return true
}

// end reports whether the result is still wanted. If not, the wait counts until leave is called.
func (w *waits) end(this *wait) (wanted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	this.ended = true
	if !this.givenUp {
		w.all--
	}
	return !this.givenUp
}

// leave ends a wait that was given up.
func (w *waits) leave(this *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	w.given--
	if w.silent[this.on]--; w.silent[this.on] <= 0 {
		delete(w.silent, this.on)
	}
}

// closeLater keeps a file that cannot be closed now. The number of such files is limited to those open when their
// file system stopped answering, because no files are opened there since then.
func (w *waits) closeLater(open io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, open)
}

// unclosed returns these files, for the caller to close.
func (w *waits) unclosed() (list []io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, w.open = w.open, nil
	return list
}
