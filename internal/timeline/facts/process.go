package facts

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// nameStarters notes which strand started each process, and when the programs started by each process ended.
func (f *Facts) nameStarters() {
	for i := range f.Threads {
		th := &f.Threads[i]
		by := f.Strand(th.Creator)
		if by == timeline.None || f.Threads[by].Process == th.Process {
			continue
		}
		if p, ok := f.ProcIndex[th.Process]; ok {
			f.Processes[p].By = by
		}
	}
	for i := range f.Processes {
		p := &f.Processes[i]
		for of, n := f.startedBy(p.ID), 0; p.End != recording.NoTime && of != recording.NoProcess && n < manyGenerations; of, n = f.startedBy(of), n+1 {
			f.childEnds[of] = append(f.childEnds[of], p.End)
		}
	}
	for _, ends := range f.childEnds {
		slices.Sort(ends)
	}
}

// Closing is how long after a process was seen to end it may still close files, and how long before that it may begin
// to.
const Closing = 1_000_000 // ns

// ChildEndedAt reports whether a program that a process had started, directly or through another program, ended about
// that time. A thread that waits for it, or at the other end of its pipes, is woken then.
func (f *Facts) ChildEndedAt(of recording.ProcessID, at recording.Time) bool {
	ends := f.childEnds[of]
	i, _ := slices.BinarySearch(ends, at-Closing)
	return i < len(ends) && ends[i] <= at+Closing
}

// manyGenerations bounds the chain of programs that start others: for example the program of a shell's shell.
const manyGenerations = 8

// Descends reports whether a process was started by another one, or by one that descends from it.
func (f *Facts) Descends(child, of recording.ProcessID) bool {
	for range manyGenerations {
		if child = f.startedBy(child); child == of || child == recording.NoProcess {
			break
		}
	}
	return child == of
}

// startedBy returns the process that started another one; NoProcess if that is not known.
func (f *Facts) startedBy(p recording.ProcessID) recording.ProcessID {
	i, ok := f.ProcIndex[p]
	switch {
	case !ok:
		return recording.NoProcess
	case f.Processes[i].By == timeline.None:
		return f.Processes[i].Parent
	}
	return f.Threads[f.Processes[i].By].Process
}

// ContextKey identifies a context.
type ContextKey struct {
	Process recording.ProcessID
	ID      recording.ContextID
}

// RuntimeOf returns the runtime of a thread's process.
func (f *Facts) RuntimeOf(th recording.ThreadID) recording.Runtime {
	i := f.ThreadIndex.Get(th)
	if i == timeline.None {
		return recording.RuntimeNative
	}
	return f.Runtime(f.Threads[i].Process)
}

// SameProcess reports whether a thread belongs to a process.
func (f *Facts) SameProcess(th recording.ThreadID, p recording.ProcessID) bool {
	i := f.ThreadIndex.Get(th)
	return i != timeline.None && f.Threads[i].Process == p
}

// Taken is a fact about a thread: it took an item from a queue.
type Taken struct {
	At recording.Time
	*recording.Taken
}

// TookWork reports whether threads took anything from queues.
func (f *Facts) TookWork() bool {
	return slices.ContainsFunc(f.Threads, func(th Thread) bool { return len(th.Taken) > 0 })
}
