package elffile

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxWaiting is how many threads wait for file systems at a time, those included that are given up on: the kernel
// ends no such wait but with the process.
const maxWaiting = 32

// ErrStalled says that a file system gave no answer in time.
var ErrStalled = errors.New("its file system does not answer")

// ErrStill is the ErrStalled of what was not asked for, as another wait for the same file system goes on.
var ErrStill = fmt.Errorf("%w", ErrStalled)

// ErrCrowded says that a file system was not asked.
var ErrCrowded = fmt.Errorf("not asked for: %d threads wait already for file systems that do not answer", maxWaiting)

// Unanswered reports whether an error says so: of what was asked for nothing is known.
func Unanswered(err error) bool { return errors.Is(err, ErrStalled) || errors.Is(err, ErrCrowded) }

// Device tells file systems from each other; 0 where it is not known.
type Device uint64

// pending are the waits of this process: it is that which has only so many threads.
var pending = &waits{silent: map[Device]int{}}

// waits are threads that wait for file systems.
type waits struct {
	mu     sync.Mutex
	all    int
	given  int            // how many of them were given up on
	silent map[Device]int // how many were given up on
	open   []io.Closer    // to be closed by one that was given up on and comes back
}

// wait is one of them.
type wait struct {
	on             Device
	givenUp, ended bool
}

// ErrWaiting says that a thread waits for a file system that does not answer, for as long as it likes.
var ErrWaiting = errors.New("a thread waits for a file system that does not answer")

// UnlessWaiting does what every thread of this process has to take part in, with none begun meanwhile that may wait for a
// file system. It fails with ErrWaiting where one does: all would wait for it.
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
	case w.all > 0: // they come back in time, or are given up
		return false, nil
	}
	return true, do()
}

// begin refuses a wait for what does not answer, and one that would be too many.
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

// giveUp reports whether there was anything to give up, or what was waited for has come meanwhile.
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

// end reports whether what came is still wanted. If not, the thread waits on until it leaves.
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

// closeLater keeps what cannot be closed now. It is no more than was open as its file system fell silent, as nothing
// is opened there since.
func (w *waits) closeLater(open io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, open)
}

// unclosed are those, for the caller to close.
func (w *waits) unclosed() (list []io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, w.open = w.open, nil
	return list
}
