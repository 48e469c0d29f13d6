package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// nameStarters notes which strand started each process, and when what each started ended.
func (f *facts) nameStarters() {
	for i := range f.threads {
		th := &f.threads[i]
		by := f.strand(th.creator)
		if by == timeline.None || f.threads[by].process == th.process {
			continue
		}
		if p, ok := f.procIndex[th.process]; ok {
			f.processes[p].By = by
		}
	}
	for i := range f.processes {
		p := &f.processes[i]
		for of, n := f.startedBy(p.ID), 0; p.End != recording.NoTime && of != recording.NoProcess && n < manyGenerations; of, n = f.startedBy(of), n+1 {
			f.childEnds[of] = append(f.childEnds[of], p.End)
		}
	}
	for _, ends := range f.childEnds {
		slices.Sort(ends)
	}
}

// closing is how long a process that has been seen to end goes on to close its files, and how
// long before that it may begin to.
const closing = 1_000_000 // ns

// childEndedAt reports that a program which a process had started, or one that such a program had, ended about at a time: what
// waits for it, or at the other end of its pipes, is woken then.
func (f *facts) childEndedAt(of recording.ProcessID, at recording.Time) bool {
	ends := f.childEnds[of]
	i, _ := slices.BinarySearch(ends, at-closing)
	return i < len(ends) && ends[i] <= at+closing
}

// forChild reports a sleep for a program that the strand's process started, or for what one wrote. Whoever starts
// it by vfork, or a clone like that, sleeps uninterruptibly until it runs: that is no disk.
func (s *sleeper) forChild(id timeline.StrandID, off *timeline.Off) bool {
	switch off.Syscall {
	case "vfork", "wait4", "waitid":
		return true
	case "clone", "clone3", "read", "readv", "poll", "ppoll", "select", "pselect6":
	case "futex": // that nobody released it from tells of a signal: a program's end sends one
		return off.WakerKind == recording.WakerOther && off.Release == 0 && s.f.childEndedAt(s.t.Strands[id].Process, off.Woken)
	case "epoll_wait", "epoll_pwait", "epoll_pwait2": // of who moves bytes of connections it may be for any of these
		if len(s.f.threads[id].moves.ends) > 0 {
			return false
		}
	default:
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
	return waker != timeline.None && int(waker) < len(s.f.threads) && s.f.descends(s.f.threads[waker].process, s.t.Strands[id].Process)
}

// manyGenerations is through how many programs that start others what a process started is followed: a shell's shell's program.
const manyGenerations = 8

// descends reports that a process was started by another one, or by one that descends from that.
func (f *facts) descends(child, of recording.ProcessID) bool {
	for range manyGenerations {
		if child = f.startedBy(child); child == of || child == recording.NoProcess {
			break
		}
	}
	return child == of
}

// startedBy is the process that started another one; NoProcess where that is not known.
func (f *facts) startedBy(p recording.ProcessID) recording.ProcessID {
	i, ok := f.procIndex[p]
	if !ok || f.processes[i].By == timeline.None {
		return recording.NoProcess
	}
	return f.threads[f.processes[i].By].process
}
