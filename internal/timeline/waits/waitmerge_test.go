package waits

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

const us recording.Time = 1000

// A thread sleeps until 100 us, and again from 120 us on. Whether that is one wait depends on how the first sleep
// ended, what both were for, how much the thread did between them, and where it slept.
func TestSleepsThatAreOneWait(t *testing.T) {
	overdue := func(a, b *sleepAt) { a.off.Timed, a.off.WakerKind = 1, recording.WakerInterrupt }
	ruby := func(a, b *sleepAt) { a.verdict.code, b.verdict.code = timeline.RuleRubyGVL, timeline.RuleRubyGVL }
	later := func(by recording.Time) func(a, b *sleepAt) { return func(a, b *sleepAt) { b.from += by } }
	ran := func(cpu recording.Duration) func(a, b *sleepAt) {
		return func(a, b *sleepAt) { b.off.Ran = int64(cpu) }
	}
	cause := func(c timeline.Cause) func(a, b *sleepAt) {
		return func(a, b *sleepAt) { a.verdict.cause, b.verdict.cause = c, c }
	}
	noSP := func(word int64) func(a, b *sleepAt) {
		return func(a, b *sleepAt) { a.off.SP, a.off.Arg = 0, b.off.Arg+word }
	}
	for _, c := range []struct {
		name   string
		change []func(a, b *sleepAt)
		want   bool
	}{
		{"it tries again for a lock", nil, true},
		{"for a pool", []func(a, b *sleepAt){cause(timeline.CausePool)}, true},
		{"for a condition: that is over", []func(a, b *sleepAt){cause(timeline.CauseCondition)}, false},
		{"and the time limit was", []func(a, b *sleepAt){cause(timeline.CauseCondition), overdue}, true},
		{"a time limit, but it was woken by a thread", []func(a, b *sleepAt){cause(timeline.CauseCondition), overdue, func(a, b *sleepAt) { a.off.WakerKind = recording.WakerThread }}, false},
		{"an interrupt, but there was no time limit", []func(a, b *sleepAt){cause(timeline.CauseCondition), overdue, func(a, b *sleepAt) { a.off.Timed = 0 }}, false},
		{"for two things", []func(a, b *sleepAt){func(a, b *sleepAt) { b.verdict.cause = timeline.CausePool }}, false},
		{"the first was no wait", []func(a, b *sleepAt){func(a, b *sleepAt) { a.wait = timeline.None }}, false},
		{"the first was for the network", []func(a, b *sleepAt){func(a, b *sleepAt) { a.off.Syscall = "read" }}, false},
		{"the second was for the network", []func(a, b *sleepAt){func(a, b *sleepAt) { b.off.Syscall = "read" }}, false},
		{"the first polled, as Ruby does", []func(a, b *sleepAt){func(a, b *sleepAt) { a.off.Syscall, a.poll = "ppoll", true }}, true},
		{"the second did", []func(a, b *sleepAt){func(a, b *sleepAt) { b.off.Syscall, b.poll = "ppoll", true }}, true},
		{"it ran for long", []func(a, b *sleepAt){ran(recording.Duration(31 * us))}, false},
		{"for how long is not known", []func(a, b *sleepAt){ran(0)}, true},
		{"nor is it soon", []func(a, b *sleepAt){ran(0), later(20 * us)}, false},
		{"it ran little, but was runnable for a while", []func(a, b *sleepAt){later(900 * us)}, true},
		{"for too long", []func(a, b *sleepAt){later(1000 * us)}, false},
		{"long after its time limit", []func(a, b *sleepAt){overdue, later(1000 * us)}, false},
		{"a while after, for the interpreter's lock of CPython", []func(a, b *sleepAt){overdue, cause(timeline.CauseInterpreterLock), later(100 * us)}, true},
		{"and of Ruby: it had it", []func(a, b *sleepAt){overdue, cause(timeline.CauseInterpreterLock), ruby, later(100 * us)}, false},
		{"of Ruby, woken but too late", []func(a, b *sleepAt){cause(timeline.CauseInterpreterLock), ruby}, true},
		{"of CPython, woken", []func(a, b *sleepAt){cause(timeline.CauseInterpreterLock)}, false},
		{"called from elsewhere", []func(a, b *sleepAt){func(a, b *sleepAt) { a.off.SP++ }}, false},
		{"from where is not known, but for a word nearby", []func(a, b *sleepAt){noSP(-64)}, true},
		{"on the other side", []func(a, b *sleepAt){noSP(64)}, true},
		{"further off", []func(a, b *sleepAt){noSP(-68)}, false},
		{"and there", []func(a, b *sleepAt){noSP(68)}, false},
	} {
		off := recording.Off{Syscall: "futex", WakerKind: recording.WakerThread, SP: 900, Arg: 7000, Ran: int64(10 * us)}
		first, second := facts.NewOff(&off), facts.NewOff(&off)
		v := verdict{cause: timeline.CauseLock}
		a := sleepAt{from: 0, to: 100 * us, back: 100 * us, off: first, verdict: v}
		b := sleepAt{from: 120 * us, to: 200 * us, back: 200 * us, off: second, verdict: v}
		for _, change := range c.change {
			change(&a, &b)
		}
		s := &Sleeps{f: &facts.Facts{Threads: make([]facts.Thread, 1)}}
		if got := s.continues(&a, &b); got != c.want {
			t.Errorf("%s: one wait: %v, want %v", c.name, got, c.want)
		}
		for at, goesOn := range map[recording.Time]bool{110 * us: false, 3000 * us: c.want} { // it reads or writes
			s.f = facts.New(&timeline.Timeline{})
			s.f.Take(recording.Event{Time: at + us, Fact: &recording.Chunk{Thread: 1, Dir: recording.Read, First: at}})
			if got := s.continues(&a, &b); c.want && got != goesOn {
				t.Errorf("%s, and it read or wrote at %d us: one wait: %v, want %v", c.name, at/us, got, goesOn)
			}
		}
	}
}
