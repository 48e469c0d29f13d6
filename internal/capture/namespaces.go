//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// maxNamespaces bounds the network namespaces in which a thread is kept.
const maxNamespaces = 64

// namespaces are the network namespaces of watched processes. The kernel shows some data of a namespace only from
// within it. A thread that is kept in the namespace reads it; the thread entered while the recorder still had the
// right to.
type namespaces struct {
	mu      sync.Mutex
	threads map[uint32]chan<- func() // nil: could not be entered
}

// enter keeps a thread in the network namespace of a process.
func (n *namespaces) enter(pid int) error {
	here, err := target.NetNS(pid)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.threads == nil {
		n.threads = map[uint32]chan<- func(){}
		if own, err := target.NetNS(os.Getpid()); err == nil {
			n.threads[own] = stay(func() error { return nil })
		}
	}
	if _, known := n.threads[here]; known {
		return nil
	}
	if len(n.threads) >= maxNamespaces {
		return fmt.Errorf("more than %d network namespaces are watched", maxNamespaces)
	}
	entered := make(chan error, 1)
	n.threads[here] = stay(func() error {
		err := setns(pid)
		entered <- err
		return err
	})
	if err := <-entered; err != nil {
		n.threads[here] = nil
		return fmt.Errorf("enter the network namespace of process %d: %w", pid, err)
	}
	return nil
}

// stay keeps a thread that calls enter and then runs the functions that it is sent.
func stay(enter func() error) chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine and never returns to another namespace
		if enter() != nil {
			return
		}
		for do := range work {
			do()
		}
	}()
	return work
}

func setns(pid int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close()
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
}

// errUnentered means that data of some namespace is not known.
var errUnentered = errors.New("a network namespace of the service could not be entered")

// each calls do in every namespace, one after the other. If one could not be entered, it fails with errUnentered
// after all others.
func (n *namespaces) each(do func() error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	if len(n.threads) == 0 {
		return do()
	}
	for _, work := range n.threads {
		if work == nil {
			errs = append(errs, errUnentered)
			continue
		}
		done := make(chan error, 1)
		work <- func() { done <- do() }
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// Close ends the threads.
func (n *namespaces) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, work := range n.threads {
		if work != nil {
			close(work)
		}
	}
	n.threads = nil
	return nil
}

// enter makes the sockets of a process's network namespace visible. If that is impossible, it notes that.
func (s *Session) enter(pid int) {
	if err := s.spaces.enter(pid); err != nil && !gone(err) {
		s.decoder.noteOnce([]recording.Missing{missingFact("namespaces", fmt.Sprintf(
			"sockets of a network namespace that the recorder is not in, such as a container's, are known once they are used, and not when they are closed: %v", err))})
	}
}
