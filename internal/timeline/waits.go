package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

const (
	// wakeLatency bounds the time between data being ready and its reader being made
	// runnable that is taken for the kernel's own way there.
	wakeLatency Duration = 100_000
	// longWait is from how long on a Wait counts in WaitStacks.
	longWait Duration = 1_000_000
	// afterRead is how soon after coming back a read or write returns.
	afterRead Time = 300_000
	// sleepsAtOnce is how many sleeps one worker settles at a time.
	sleepsAtOnce = 1 << 14
)

// sleepAt is one sleep of a thread, before those for one thing are put together.
type sleepAt struct {
	from, to, back Time
	off            *Off
	verdict        verdict
	strand         StrandID
	stack          StackID
	wait           WaitID // that it is part of, or None
	state          State
	quality        Quality
	borrowed       bool
	file           bool // a read or write: a Wait only if not of the network
	poll           bool // a poll: a Wait only if its stack tells what for
}

// sleeper finds out what sleeping threads wait for.
type sleeper struct {
	t    *Timeline
	f    *facts
	book *ruleBook
	gil  gilWords
	all  []sleepAt
	list []sleepAt // those of the strand at hand
	// Whom each strand worked for, from finish on: what it served, what was handed over.
	owners, parts owners
	// Who ended the waits of goroutines; nil: there are none.
	parkedBy map[*Off]StrandID
	parked   offs // of goroutines
}

// listSleeps lists the sleeps of all threads, with what their stacks tell.
func listSleeps(t *Timeline, f *facts) *sleeper {
	s := &sleeper{t: t, f: f, book: newRuleBook(t)}
	f.storage.byStrand()
	s.all = make([]sleepAt, 0, s.count())
	threads := make([]pooled, len(f.threads))
	for i := range threads {
		s.list = s.all[len(s.all):]
		s.sleeps(StrandID(i))
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
		runtime := f.runtime(t.Strands[i].Process)
		if s.judge(runtime); runtime == recording.RuntimeRuby {
			s.agree()
		}
	}
	return s
}

// count returns how many sleeps there may be.
func (s *sleeper) count() (n int) {
	for i := range s.f.threads {
		for k := range s.t.Strands[i].Intervals {
			if asleep(&s.t.Strands[i].Intervals[k]) {
				n++
			}
		}
	}
	return n
}

// asleep reports an interval that ended with a sleep that is known.
func asleep(iv *Interval) bool {
	return (iv.State == StateSleeping || iv.State == StateDisk) && iv.Off != nil
}

// settle decides what the sleeps were for: gil are the words of interpreters' locks.
func (s *sleeper) settle(by recording.Workers, gil gilWords) {
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

// sleeps lists the sleeps of a strand that are not of the network. Of the threads of Ruby
// that wait for each other one polls, because it looks out for signals too.
func (s *sleeper) sleeps(id StrandID) {
	s.list = s.list[:0]
	ivs := s.t.Strands[id].Intervals
	polls := len(s.t.Stacks) > 0 && s.f.runtime(s.t.Strands[id].Process) == recording.RuntimeRuby
	for i := range ivs {
		iv := &ivs[i]
		if !asleep(iv) {
			continue
		}
		file, poll := fileSyscall(iv.Off.Syscall), false
		if networkWait(iv.Off.Syscall) && !file && !onNoFile(iv.Off) && iv.State != StateDisk {
			if poll = polls && iv.Off.Syscall == "ppoll"; !poll && !s.forChild(id, iv.Off) {
				continue
			}
		}
		x := sleepAt{strand: id, from: iv.From, to: iv.To, back: iv.To, off: iv.Off, state: iv.State, stack: None, file: file, poll: poll}
		if i+1 < len(ivs) && ivs[i+1].State == StateRunnable && ivs[i+1].Off == iv.Off {
			x.back = ivs[i+1].To
		}
		s.list = append(s.list, x)
	}
}

// fileSyscall reports system calls that read or write a socket as well as any other
// kind of file.
func fileSyscall(name string) bool {
	switch name {
	case "read", "readv", "write", "writev":
		return true
	}
	return false
}

// onNoFile reports a poll of no file at all: a sleep.
func onNoFile(off *Off) bool {
	switch off.Syscall {
	case "poll", "select", "pselect6":
		return off.Arg == 0 && off.Timed == 1
	}
	return false
}

// own gives sleeps the stacks that were taken as they began: both lists are in order.
func (s *sleeper) own() {
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
		for k < len(stacks) && stacks[k].Time < since-stackEarly {
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

// judge asks the rules about the stacks of a strand's sleeps.
func (s *sleeper) judge(r recording.Runtime) {
	for i := range s.list {
		x := &s.list[i]
		x.verdict = s.book.of(x.stack, r)
		if x.borrowed {
			x.quality = Inferred
		}
	}
}

// settleOne decides what a sleep was for, from its stack, its waker, its system call.
func (s *sleeper) settleOne(x *sleepAt, gc gcThreads) {
	off, v := x.off, &x.verdict
	futex := futexSyscall(off.Syscall)
	switch {
	case s.f.storage.forMemory(x.strand, x.from, x.to):
		x.set(RuleMemoryLock, CausePageFault, Exact)
	case off.Syscall == "":
		x.set(RulePageFault, CausePageFault, Inferred)
	case s.forChild(x.strand, off):
		x.set(RuleChild, CauseIPC, Exact)
	case x.state == StateDisk:
		x.set(RuleDisk, CauseDisk, Exact)
	case futex && v.code != RuleIdle && gc.released(x):
		x.set(gc.rule(x), CauseGC, Exact)
	case futex && (v.cause != CauseInterpreterLock || x.borrowed) && s.gil.has(s.t.Strands[x.strand].Process, off.Arg):
		x.set(RuleFutexWord, CauseInterpreterLock, s.gil.quality(s.t.Strands[x.strand].Process))
	case (futex || x.poll) && v.code != "":
	case x.poll:
		x.set("", CauseUnknown, Inferred)
	case x.file:
		s.settleFile(x)
	case onNoFile(off):
		x.set(RuleSyscall, CauseSleep, Exact)
	case futex && off.Owner != recording.NoThread && gc.heap[s.word(x)]:
		x.set("jvm-heap-lock", CauseGC, Inferred)
	case futex && off.Owner != recording.NoThread:
		x.set(RuleOwner, CauseLock, Exact)
	case futex:
		x.set(RuleFutex, CauseCondition, Inferred)
	default:
		for _, r := range syscallRules {
			if slices.Contains(r.syscalls, off.Syscall) {
				x.set(RuleSyscall, r.cause, Exact)
				return
			}
		}
		x.set("", CauseUnknown, Inferred)
	}
}

// word is the futex word of a sleep.
func (s *sleeper) word(x *sleepAt) lockKey {
	return lockKey{process: s.t.Strands[x.strand].Process, address: x.off.Arg}
}

func (x *sleepAt) set(code string, cause Cause, q Quality) {
	x.verdict = verdict{code: code, cause: cause, frame: None}
	x.quality = q
}

// futexSyscall reports system calls in which threads wait for each other.
func futexSyscall(name string) bool {
	return name == "futex" || name == "futex_waitv" || name == "futex_wait"
}

// settleFile tells reads and writes of the network, which are no Waits, from others: if
// it moved bytes of a connection, that shows as soon as it comes back.
func (s *sleeper) settleFile(x *sleepAt) {
	x.set("", CauseUnknown, Inferred)
	if !s.t.Recorded(recording.HookIO) || x.off.Timed == 1 || x.back >= s.f.window(x.back).To-afterRead {
		return
	}
	dir := recording.Read
	if x.off.Syscall == "write" || x.off.Syscall == "writev" {
		dir = recording.Write
	}
	if m, ok := s.f.threads[x.strand].moves.after(x.back); ok && m.from <= x.back+afterRead && m.dir == dir {
		return
	}
	x.set(RuleNoConn, CauseIPC, Inferred)
}

// networkWait reports syscalls in which a thread may wait for a socket.
func networkWait(syscall string) bool {
	switch syscall {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg", "write", "writev", "sendto", "sendmsg", "sendmmsg",
		"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
		"connect", "accept", "accept4", "io_uring_enter":
		return true
	}
	return false
}

// pollWait reports syscalls that wait for any of several files, or for a time limit.
func pollWait(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}

// sleepsBy reports a system call by which programs sleep if nothing comes that it waits
// for. Loops wait in epoll, for whatever comes: an interrupt is something that came, there.
func sleepsBy(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6":
		return true
	}
	return false
}

// sleepCause tells why a strand slept in an interval.
func (t *Timeline) sleepCause(s StrandID, iv Interval) (Cause, Quality) {
	if w := t.WaitAt(s, iv.From); w != None {
		x := &t.Waits[w]
		if x.Rule == RuleIdle { // the request it served is elsewhere
			return CauseUnknown, Inferred
		}
		return x.Cause, x.Quality
	}
	if off := iv.Off; off != nil && sleepsBy(off.Syscall) && off.Timed == 1 && off.WakerKind == recording.WakerInterrupt {
		return CauseSleep, Inferred
	}
	return CauseUnknown, Inferred
}
