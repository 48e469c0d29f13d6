package timeline

import "github.com/getdwell/dwell/recording"

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
		}
	}
}

// forChild reports a sleep for a program that the strand's process started, or for what one wrote. Whoever starts
// it by vfork, or a clone like that, sleeps uninterruptibly until it runs: that is no disk.
func (s *sleeper) forChild(id StrandID, off *recording.Off) bool {
	switch off.Syscall {
	case "vfork", "wait4", "waitid":
		return true
	case "clone", "clone3", "read", "readv", "poll", "ppoll", "select", "pselect6":
	default:
		return false
	}
	if off.WakerKind != recording.WakerThread || s.t.Strands[id].Loop {
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
