// Package waits determines what sleeping threads waited for. List collects the sleeps, and what their stacks show
// according to the table of rules (waitrules.go). Settle decides the cause of each sleep. Merge combines sleeps into
// Waits. AddParks adds the waits of goroutines. Assign determines the request of each wait. Finish names the locks and
// their holders. If the cause, lock or holder of a wait is wrong, fix it here.
package waits

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

const (

	// longWait is the shortest Wait that counts in WaitStacks.
	longWait recording.Duration = 1_000_000

	// sleepsAtOnce is how many sleeps one worker settles at a time.
	sleepsAtOnce = 1 << 14
)

// sleepAt is one sleep of a thread, before the sleeps for one thing are merged.
type sleepAt struct {
	from, to, back recording.Time
	off            *timeline.Off
	verdict        verdict
	strand         timeline.StrandID
	stack          timeline.StackID
	wait           timeline.WaitID // that it is part of, or None
	state          timeline.State
	quality        timeline.Quality
	borrowed       bool
	file           bool // a read or write: a Wait only if it is not of the network
	poll           bool // a poll: a Wait only if its stack shows what it is for
}

// Sleeps determines what sleeping threads wait for.
type Sleeps struct {
	t    *timeline.Timeline
	f    *facts.Facts
	book *ruleBook
	gil  GILWords
	all  []sleepAt
	list []sleepAt // the sleeps of the current strand
	// The requests each strand worked for, set by Assign: those it served, and those handed over to it.
	owners, parts timeline.Stints
	// Which strand ended each wait of a goroutine; nil if there are none.
	ParkedBy map[*timeline.Off]timeline.StrandID
	parked   facts.Offs // of goroutines
}

// List lists the sleeps of all threads, with what their stacks show.
func List(t *timeline.Timeline, f *facts.Facts) *Sleeps {
	s := &Sleeps{t: t, f: f, book: newRuleBook(t)}
	f.Storage.ByStrand()
	s.all = make([]sleepAt, 0, s.count())
	threads := make([]pooled, len(f.Threads))
	for i := range threads {
		s.list = s.all[len(s.all):]
		s.sleeps(timeline.StrandID(i))
		if len(t.Stacks) > 0 {
			s.own()
			s.borrow()
		}
		threads[i].sleeps = s.list
		s.all = s.all[:len(s.all)+len(s.list)]
	}
	if len(t.Stacks) > 0 {
		s.borrowInPools(threads)
	}
	for i := range threads {
		s.list = threads[i].sleeps
		runtime := f.Runtime(t.Strands[i].Process)
		if s.judge(runtime); runtime == recording.RuntimeRuby {
			s.agree()
		}
	}
	return s
}

// count returns the largest possible number of sleeps.
func (s *Sleeps) count() (n int) {
	for i := range s.f.Threads {
		for k := range s.t.Strands[i].Intervals {
			if asleep(&s.t.Strands[i].Intervals[k]) {
				n++
			}
		}
	}
	return n
}

// asleep reports whether an interval is a sleep with a recorded end.
func asleep(iv *timeline.Interval) bool {
	return (iv.State == timeline.StateSleeping || iv.State == timeline.StateDisk) && iv.Off != nil
}

// Settle decides what the sleeps were for. The argument gil contains the words of interpreters' locks.
func (s *Sleeps) Settle(by recording.Workers, gil GILWords) {
	s.gil = gil
	s.gil.learn(s.all, s.t)
	gc := collectors(s.t, s.f)
	gc.learn(s.all)
	by.InPieces(len(s.all), sleepsAtOnce, func(_, from, to int) {
		for i := from; i < to; i++ {
			s.settleOne(&s.all[i], gc)
		}
	})
}

// sleeps lists the sleeps of a strand that are not of the network. Polls of Ruby threads are included: one of the
// threads that wait for each other polls, because it watches for signals too.
func (s *Sleeps) sleeps(id timeline.StrandID) {
	s.list = s.list[:0]
	ivs := s.t.Strands[id].Intervals
	polls := len(s.t.Stacks) > 0 && s.f.Runtime(s.t.Strands[id].Process) == recording.RuntimeRuby
	for i := range ivs {
		iv := &ivs[i]
		if !asleep(iv) {
			continue
		}
		file, poll := fileSyscall(iv.Off.Syscall), false
		if timeline.NetworkWait(iv.Off.Syscall) && !file && !timeline.OnNoFile(iv.Off) && iv.State != timeline.StateDisk {
			if poll = polls && iv.Off.Syscall == "ppoll"; !poll && !s.forChild(id, iv.Off) {
				continue
			}
		}
		x := sleepAt{strand: id, from: iv.From, to: iv.To, back: iv.To, off: iv.Off, state: iv.State, stack: timeline.None, file: file, poll: poll}
		if i+1 < len(ivs) && ivs[i+1].State == timeline.StateRunnable && ivs[i+1].Off == iv.Off {
			x.back = ivs[i+1].To
		}
		s.list = append(s.list, x)
	}
}

// fileSyscall reports whether a system call reads or writes sockets as well as other kinds of files.
func fileSyscall(name string) bool {
	return name == "read" || name == "readv" || name == "write" || name == "writev"
}

// own gives sleeps the stacks that were taken as they began: both lists are in order.
func (s *Sleeps) own() {
	if len(s.list) == 0 {
		return
	}
	stacks := s.t.Strands[s.list[0].strand].Stacks
	k := 0
	for i := range s.list {
		x := &s.list[i]
		since := x.from
		if x.off.Since != recording.NoTime {
			since = min(since, x.off.Since)
		}
		for k < len(stacks) && stacks[k].Time < since-timeline.StackEarly {
			k++
		}
		for j := k; j < len(stacks) && stacks[j].Time < x.to; j++ {
			if stacks[j].Origin == recording.StackBlocked {
				x.stack = stacks[j].Stack
				k = j + 1
				break
			}
		}
	}
}

// judge applies the rules to the stacks of a strand's sleeps.
func (s *Sleeps) judge(r recording.Runtime) {
	for i := range s.list {
		x := &s.list[i]
		x.verdict = s.book.of(x.stack, r)
		if x.borrowed {
			x.quality = timeline.Inferred
		}
	}
}

// settleOne decides what a sleep was for, from its stack, its waker and its system call.
func (s *Sleeps) settleOne(x *sleepAt, gc gcThreads) {
	off, v := x.off, &x.verdict
	futex := timeline.FutexWait(off.Syscall)
	switch {
	case s.f.Storage.ForMemory(x.strand, x.from, x.to):
		x.set(timeline.RuleMemoryLock, timeline.CausePageFault, timeline.Exact)
	case off.Syscall == "":
		x.set(timeline.RulePageFault, timeline.CausePageFault, timeline.Inferred)
	case s.forChild(x.strand, off):
		x.set(timeline.RuleChild, timeline.CauseIPC, timeline.Exact)
	case x.state == timeline.StateDisk:
		x.set(timeline.RuleDisk, timeline.CauseDisk, timeline.Exact)
	case futex && v.code != timeline.RuleIdle && gc.released(x):
		x.set(gc.rule(x), timeline.CauseGC, timeline.Exact)
	case futex && (v.cause != timeline.CauseInterpreterLock || x.borrowed) && s.gil.has(s.t.Strands[x.strand].Process, off.Arg):
		x.set(timeline.RuleFutexWord, timeline.CauseInterpreterLock, s.gil.quality(s.t.Strands[x.strand].Process))
	case (futex || x.poll) && v.code != "":
	case x.poll:
		x.set("", timeline.CauseUnknown, timeline.Inferred)
	case x.file:
		s.settleFile(x)
	case timeline.OnNoFile(off):
		x.set(timeline.RuleSyscall, timeline.CauseSleep, timeline.Exact)
	case futex && off.Owner != recording.NoThread && gc.heap[wordOf(s.t, x)]:
		x.set("jvm-heap-lock", timeline.CauseGC, timeline.Inferred)
	case futex && off.Owner != recording.NoThread:
		x.set(timeline.RuleOwner, timeline.CauseLock, timeline.Exact)
	case futex:
		x.set(timeline.RuleFutex, timeline.CauseCondition, timeline.Inferred)
	default:
		for _, r := range syscallRules {
			if slices.Contains(r.syscalls, off.Syscall) {
				x.set(timeline.RuleSyscall, r.cause, timeline.Exact)
				return
			}
		}
		x.set("", timeline.CauseUnknown, timeline.Inferred)
	}
}

// wordOf returns the futex word of a sleep.
func wordOf(t *timeline.Timeline, x *sleepAt) lockKey {
	return lockKey{process: t.Strands[x.strand].Process, address: x.off.Arg}
}

func (x *sleepAt) set(code string, cause timeline.Cause, q timeline.Quality) {
	x.verdict = verdict{code: code, cause: cause, frame: timeline.None}
	x.quality = q
}

// settleFile separates reads and writes of the network, which are no Waits, from others. If the call moved bytes of a
// connection, that is recorded as soon as the thread is back.
func (s *Sleeps) settleFile(x *sleepAt) {
	x.set("", timeline.CauseUnknown, timeline.Inferred)
	if !s.t.Recorded(recording.HookIO) || x.off.Timed == 1 || x.back >= s.f.Window(x.back).To-timeline.AfterRead {
		return
	}
	dir := recording.Read
	if x.off.Syscall == "write" || x.off.Syscall == "writev" {
		dir = recording.Write
	}
	m, ok := s.f.Threads[x.strand].Moves.After(x.back)
	if ok && m.From <= x.back+timeline.AfterRead && m.Dir == dir && !letGoOn(x.off.Thread, s.f.Parks.Unparks, x.back, m.From) {
		return
	}
	x.set(timeline.RuleNoConn, timeline.CauseIPC, timeline.Inferred)
}

// letGoOn reports whether a goroutine on a thread let another one continue between two times: then the thread had
// already left the system call.
func letGoOn(th recording.ThreadID, list []facts.Unpark, from, to recording.Time) bool {
	for i := sort.Search(len(list), func(k int) bool { return list[k].At > from }); i < len(list) && list[i].At < to; i++ {
		if list[i].Thread == th {
			return true
		}
	}
	return false
}
