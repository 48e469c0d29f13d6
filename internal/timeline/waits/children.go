package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// forChild reports a sleep for a program that the strand's process started, or for what one wrote. Whoever starts
// it by vfork, or a clone like that, sleeps uninterruptibly until it runs: that is no disk.
func (s *Sleeps) forChild(id timeline.StrandID, off *timeline.Off) bool {
	aside := s.t.Strands[id].Poll.Aside(off)
	switch off.Syscall {
	case "vfork", "wait4", "waitid":
		return true
	case "clone", "clone3", "read", "readv", "poll", "ppoll", "select", "pselect6":
	case "futex": // that nobody released it from tells of a signal: a program's end sends one
		return off.WakerKind == recording.WakerOther && off.Release == 0 && s.f.ChildEndedAt(s.t.Strands[id].Process, off.Woken)
	case "epoll_wait", "epoll_pwait", "epoll_pwait2": // of who moves bytes of connections it may be for any of these, but for an instance of its own
		if !s.f.Threads[id].Moves.None() && !aside {
			return false
		}
	default:
		return false
	}
	switch off.WakerKind {
	case recording.WakerThread:
	case recording.WakerOther: // who is about to be gone is nobody that is known
		m, moves := s.f.Threads[id].Moves.After(off.Woken)
		return s.f.ChildEndedAt(s.t.Strands[id].Process, off.Woken) && (aside || !moves || m.From > off.Woken+facts.Closing)
	default:
		return false
	}
	waker := s.f.Strand(off.Waker)
	return waker != timeline.None && int(waker) < len(s.f.Threads) && s.f.Descends(s.f.Threads[waker].Process, s.t.Strands[id].Process)
}
