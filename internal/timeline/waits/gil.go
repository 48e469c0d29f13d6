package waits

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

const (
	// gilWait bounds one timed wait for CPython's interpreter lock: a waiting thread asks again every 5 ms.
	gilWait recording.Duration = 8_000_000
	// longTimers: at most one in this many of its waits may be longer.
	longTimers = 20
	// gilSpan is how far the lock's own state extends around the word that threads wait on.
	gilSpan = 256
)

// GILWords holds the futex words of the interpreter locks of Python processes.
type GILWords struct {
	words map[recording.ProcessID][]int64
	seen  map[recording.ProcessID]bool // stack frames show it; it is not only inferred
}

// FindGILWords looks for futex words on which at least two threads wait, always with a time limit and never long.
func FindGILWords(f *facts.Facts) GILWords {
	g := GILWords{map[recording.ProcessID][]int64{}, map[recording.ProcessID]bool{}}
	type use struct {
		thread recording.ThreadID
		shared bool
		other  bool // not for that lock
		n      int
		long   int
	}
	uses := map[lockKey]*use{}
	for i := range f.Threads {
		th := &f.Threads[i]
		if f.Runtime(th.Process) != recording.RuntimePython {
			continue
		}
		var k lockKey
		var u *use // of k: a thread mostly waits where it waited before
		for _, s := range th.Steps {
			if s.Off == nil || s.Off.Syscall != "futex" || s.Off.State != recording.OffSleep {
				continue
			}
			if u == nil || k.address != s.Off.Arg {
				k = lockKey{process: th.Process, address: s.Off.Arg}
				u = lists.Entry(uses, k)
			}
			if u.n == 0 {
				u.thread = th.ID
			}
			u.shared = u.shared || u.thread != th.ID
			woken := s.Off.Woken
			if woken == recording.NoTime {
				woken = s.At
			}
			u.other = u.other || s.Off.Timed != 1
			u.n++
			if woken.Sub(s.Off.Since) > gilWait {
				u.long++
			}
		}
	}
	for k, u := range uses {
		if u.shared && !u.other && longTimers*u.long <= u.n {
			g.words[k.process] = append(g.words[k.process], k.address)
		}
	}
	return g
}

// learn adds the words of sleeps whose own stacks show that lock. Most of the stacks at the word must show it, because
// a stack may have been taken at another sleep.
func (g *GILWords) learn(all []sleepAt, t *timeline.Timeline) {
	shown := map[lockKey]int{} // how many more stacks show that lock than show anything else
	of := func(x *sleepAt) lockKey { return wordOf(t, x) }
	for i := range all {
		switch x := &all[i]; {
		case x.borrowed || x.verdict.code == "" || !timeline.FutexWait(x.off.Syscall):
		case x.verdict.code == "py-gil":
			shown[of(x)]++
		default:
			shown[of(x)]--
		}
	}
	for i := range all {
		x := &all[i]
		if x.borrowed || x.verdict.code != "py-gil" || shown[of(x)] <= 0 {
			continue
		}
		p := of(x).process
		g.seen[p] = true
		if !g.has(p, x.off.Arg) {
			g.words[p] = append(g.words[p], x.off.Arg)
		}
	}
}

// has reports whether an address is one of the words, or near one.
func (g *GILWords) has(p recording.ProcessID, addr int64) bool {
	return slices.ContainsFunc(g.words[p], func(a int64) bool { return addr >= a-gilSpan && addr <= a+gilSpan })
}

// quality returns how sure a claim is that rests on the word.
func (g *GILWords) quality(p recording.ProcessID) timeline.Quality {
	if g.seen[p] {
		return timeline.Exact
	}
	return timeline.Inferred
}
