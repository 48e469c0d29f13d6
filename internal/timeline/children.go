package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// RuleChild is the rule of waits for a program that the waiting process started: for its
// beginning, for what it writes, for its end.
const RuleChild = "child-process"

// nameStarters notes which strand started each process.
func (f *facts) nameStarters() {
	for i := range f.threads {
		th := &f.threads[i]
		by := f.strand(th.creator)
		if by == None || f.threads[by].process == th.process {
			continue
		}
		if p, ok := f.procIndex[th.process]; ok {
			f.processes[p].By = by
			if end := f.processes[p].End; end != recording.NoTime {
				of := f.threads[by].process
				f.childEnds[of] = append(f.childEnds[of], end)
			}
		}
	}
	for _, ends := range f.childEnds {
		slices.Sort(ends)
	}
}

// closing is how long a process that has been seen to end goes on to close its files, and how
// long before that it may begin to.
const closing = 1_000_000 // ns

// childEndedAt reports that a program which a process had started ended about at a time: what
// waits for it, or at the other end of its pipes, is woken then.
func (f *facts) childEndedAt(of recording.ProcessID, at Time) bool {
	ends := f.childEnds[of]
	i, _ := slices.BinarySearch(ends, at-closing)
	return i < len(ends) && ends[i] <= at+closing
}

// forChild reports a sleep for a program that the strand's process started, or for what one wrote. Whoever starts
// it by vfork, or a clone like that, sleeps uninterruptibly until it runs: that is no disk.
func (s *sleeper) forChild(id StrandID, off *Off) bool {
	switch off.Syscall {
	case "vfork", "wait4", "waitid":
		return true
	case "clone", "clone3", "read", "readv", "poll", "ppoll", "select", "pselect6":
	case "futex": // that nobody released it from tells of a signal: a program's end sends one
		return off.WakerKind == recording.WakerOther && off.Release == 0 && s.f.childEndedAt(s.t.Strands[id].Process, off.Woken)
	default:
		return false
	}
	if s.t.Strands[id].Loop {
		return false
	}
	switch off.WakerKind {
	case recording.WakerThread:
	case recording.WakerOther: // who is about to be gone is nobody that is known
		m, moves := s.f.threads[id].moves.after(off.Woken)
		return s.f.childEndedAt(s.t.Strands[id].Process, off.Woken) && (!moves || m.from > off.Woken+closing)
	default:
		return false
	}
	waker := s.f.strand(off.Waker)
	if waker == None || int(waker) >= len(s.f.threads) {
		return false
	}
	p, ok := s.f.procIndex[s.f.threads[waker].process]
	if !ok {
		return false
	}
	by := s.f.processes[p].By
	return by != None && s.t.Strands[by].Process == s.t.Strands[id].Process
}
