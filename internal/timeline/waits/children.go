package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// forChild reports whether a sleep waits for a program that the strand's process started, or for its output. A thread
// that starts a program by vfork, or a similar clone, sleeps uninterruptibly until the program runs: it does not wait
// for a disk.
func (s *Sleeps) forChild(id timeline.StrandID, off *timeline.Off) bool {
	aside := s.t.Strands[id].Poll.Aside(off)
	switch off.Syscall {
	case "vfork", "wait4", "waitid":
		return true
	case "clone", "clone3", "read", "readv", "poll", "ppoll", "select", "pselect6":
	case "futex": // no futex wake ended it, so a signal did: the end of a program sends one
		return off.WakerKind == recording.WakerOther && off.Release == 0 && s.f.ChildEndedAt(s.t.Strands[id].Process, off.Woken)
	case "epoll_wait", "epoll_pwait", "epoll_pwait2": // a thread that moves bytes may wait for any of its connections, except at a separate instance
		if !s.f.Threads[id].Moves.None() && !aside {
			return false
		}
	default:
		return false
	}
	switch off.WakerKind {
	case recording.WakerThread:
	case recording.WakerOther: // a process that is exiting is no known thread
		m, moves := s.f.Threads[id].Moves.After(off.Woken)
		return s.f.ChildEndedAt(s.t.Strands[id].Process, off.Woken) && (aside || !moves || m.From > off.Woken+facts.Closing)
	default:
		return false
	}
	waker := s.f.Strand(off.Waker)
	return waker != timeline.None && int(waker) < len(s.f.Threads) && s.f.Descends(s.f.Threads[waker].Process, s.t.Strands[id].Process)
}
