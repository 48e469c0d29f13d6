package waits

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

const (
	// asksAgain is how long a thread may take between two timed waits for one thing.
	asksAgain recording.Time = 1_000_000
	asksRuby  recording.Time = 100_000 // in Ruby, which asks for its interpreter's lock without a detour
	// triesAgain limits what a thread may do between being woken without getting what it waited for and waiting for it
	// again: the CPU time it uses or, if that is unknown, the time it takes.
	triesAgain = 30_000
	// nearWord is how far apart the words of one thing may lie.
	nearWord = 64
)

// Merge makes Waits of the sleeps, in order of start. Consecutive sleeps for one thing are one Wait.
func (s *Sleeps) Merge() {
	t, most := s.t, 0
	for i := range s.all {
		if !s.all[i].none() {
			most++
		}
	}
	t.Waits = slices.Grow(t.Waits, most)
	for i := range s.all {
		switch x := &s.all[i]; {
		case x.none():
			x.wait = timeline.None
		case i > 0 && s.continues(&s.all[i-1], x):
			x.wait = s.all[i-1].wait
			extend(&t.Waits[x.wait], x)
		default:
			x.wait = timeline.WaitID(len(t.Waits))
			t.Waits = append(t.Waits, waitOf(x))
		}
	}
	s.order()
}

// none reports whether a sleep is no Wait.
func (x *sleepAt) none() bool { return (x.file || x.poll) && x.verdict.cause == timeline.CauseUnknown }

// waitOf returns the Wait that begins with a sleep.
func waitOf(x *sleepAt) timeline.Wait {
	return timeline.Wait{
		Strand: x.strand, From: x.from, To: x.to, Back: x.back, Cause: x.verdict.cause, Quality: x.quality, Rule: x.verdict.code,
		Off: x.off, Stack: x.stack, Borrowed: x.borrowed, Lock: timeline.None, Request: timeline.None,
	}
}

// extend makes a later sleep part of a Wait. A stack of its own tells more than a borrowed one.
func extend(w *timeline.Wait, x *sleepAt) {
	w.To, w.Back, w.Off = x.to, x.back, x.off
	if x.stack != timeline.None && (w.Stack == timeline.None || w.Borrowed && !x.borrowed) {
		w.Stack, w.Borrowed, w.Rule, w.Quality = x.stack, x.borrowed, x.verdict.code, x.quality
	}
}

// continues reports whether a sleep continues the wait of the previous one: its time limit expired, or it was woken for
// a lock that another thread took.
func (s *Sleeps) continues(before, x *sleepAt) bool {
	a, b := before.off, x.off
	if before.wait == timeline.None || before.strand != x.strand || before.verdict.cause != x.verdict.cause || !(timeline.FutexWait(a.Syscall) || before.poll) || !(timeline.FutexWait(b.Syscall) || x.poll) {
		return false
	}
	switch gap := x.from - before.back; {
	case a.Timed == 1 && a.WakerKind == recording.WakerInterrupt:
		if gap > asksAgain || x.verdict.code == timeline.RuleRubyGVL && gap > asksRuby { // it got it then, and ran
			return false
		}
	case x.verdict.cause == timeline.CauseLock || x.verdict.cause == timeline.CausePool || x.verdict.code == timeline.RuleRubyGVL:
		if b.Ran > triesAgain || b.Ran == 0 && gap > triesAgain || gap > asksAgain {
			return false
		}
	default:
		return false
	}
	if m, ok := s.f.Threads[x.strand].Moves.After(before.back); ok && m.From < x.from { // it moved bytes: it had continued
		return false
	}
	if a.SP != 0 && b.SP != 0 {
		return a.SP == b.SP
	}
	return a.Arg >= b.Arg-nearWord && a.Arg <= b.Arg+nearWord
}
