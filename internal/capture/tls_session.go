//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"time"

	"github.com/getdwell/dwell/recording"
)

// startTLS prepares to name calls over TLS, if that is wanted. If it is impossible, the recording continues without,
// and says so.
func (s *Session) startTLS() {
	if s.opts.TLSHeads.PerSecond <= 0 {
		return
	}
	s.useTLS(s.loadTLS(s.opts.TLSHeads))
}

// useTLS names them from now on, or notes why that is impossible.
func (s *Session) useTLS(p *tlsProbes, err error) {
	if err != nil {
		s.missing = append(s.missing, missingHeads(fmt.Sprintf("calls over TLS are not named: %v", err)))
		return
	}
	s.tls, s.meter.tls = p, p
	s.keep(p)
}

// lookTLS probes the TLS libraries of a process; speaks says that it must have one.
func (s *Session) lookTLS(pid int, speaks bool) {
	found, err := s.tls.look(pid, speaks, time.Now())
	switch {
	case err == nil && (found || !speaks):
	case gone(err): // ended meanwhile
	case err != nil:
		s.tls.note(fmt.Sprintf("calls over TLS are not named: %v", err))
	default:
		s.tls.note("calls over TLS are not named: a process that makes them uses no shared OpenSSL (Go, JVMs and some others bring their own TLS)")
	}
}

// followTLS probes processes that turn out to speak TLS, or were started by one that does. It ends the probing of
// processes that have ended, or for which it costs too much.
func (s *Session) followTLS(ended []uint32) {
	p := &s.decoder.plain
	defer func() { p.secure, p.forks, p.spent = p.secure[:0], p.forks[:0], p.spent[:0] }()
	if s.tls == nil {
		return
	}
	for _, pid := range p.secure {
		s.workers.Go(func() { s.lookTLS(int(pid), true) })
	}
	for _, f := range p.forks {
		if s.tls.probing(int(f.parent)) {
			s.workers.Go(func() { s.lookTLS(int(f.child), false) })
		}
	}
	for _, pid := range p.spent {
		s.decoder.note([]recording.Missing{missingHeads(fmt.Sprintf(
			"calls over TLS of a process were named at first only: it makes so many that naming them would have cost it more than %s of each second",
			s.opts.TLSHeads.PerSecond))})
		s.workers.Go(func() { s.tls.spent(int(pid)) })
	}
	for _, pid := range ended {
		s.workers.Go(func() { s.tls.forget(int(pid)) })
	}
	s.decoder.noteOnce(s.tls.takeNotes())
}

// startedTLS notes that a process runs another program.
func (s *Session) startedTLS(pid int) {
	if s.tls != nil {
		s.tls.again(pid)
		s.workers.Go(func() { s.lookTLS(pid, false) })
	}
}
