package truth

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// Taken is one time that a truth service took a lock; CLOCK_MONOTONIC, ns.
type Taken struct {
	Lock   string `json:"lock"`
	ID     int    `json:"id"`     // of the request, -1 none
	Thread int    `json:"thread"` // TID, or the number of a goroutine
	Asked  int64  `json:"asked"`
	Had    int64  `json:"had"`
	Left   int64  `json:"left"`
	Waited int64  `json:"waited"` // asleep from Asked to Had, where that is not all of it; else 0
	Ready  int64  `json:"ready"`  // to run, in that case: some of it lies between two sleeps of one wait
}

// wait is how long it was waited for; ns.
func (k *Taken) wait() int64 { return cmp.Or(k.Waited, k.Had-k.Asked) }

// minWait is the shortest wait that is compared.
const minWait = 1_000_000 // ns

// LockScore is how the Waits of one cause compare with what the threads logged.
type LockScore struct {
	Waits   int      // logged, of at least minWait
	Seen    int      // of them, those in which dwell has a Wait of the cause
	Within  int      // of them, those whose length differs by at most the tolerance
	Truth   int64    // sum of the logged ones; ns
	Dwell   int64    // sum of dwell's in them; ns
	Named   int64    // of Dwell, with a holder; ns
	Early   int64    // of Named, while that thread was still about to have it, by the log; ns
	Held    int64    // of the rest, while the log too says that someone had the lock; ns
	Right   int64    // of Held, by a thread that the log names; ns
	Woken   int64    // of Named, where who woke whom tells the holder; ns
	Proven  int64    // of Woken, by a thread that the log names; ns
	Extra   int      // Waits of the cause and at least minWait in which the log has no wait
	Theirs  int      // of Seen, those of which dwell knows for which request
	Request int      // of Theirs, the right one
	Odd     []string // the first of what differs, to look into
}

// maxOdd bounds Odd, of each kind.
const maxOdd = 4

// odd notes a difference, unless there are enough of its kind. Times are the recording's.
func (s *LockScore) odd(kind, format string, args ...any) {
	n := 0
	for _, o := range s.Odd {
		if strings.HasPrefix(o, kind) {
			n++
		}
	}
	if n < maxOdd {
		s.Odd = append(s.Odd, kind+": "+fmt.Sprintf(format, args...))
	}
}

// span is a half-open piece of time; ns.
type span struct{ from, to int64 }

// and is the common piece of two spans; if there is none, it ends before it begins.
func (s span) and(o span) span { return span{max(s.from, o.from), min(s.to, o.to)} }

// lockTruth is the log, made ready for questions.
type lockTruth struct {
	tl *timeline.Timeline
	LockQuestion
	entry    map[timeline.RequestID]int
	strands  map[timeline.StrandID]int // -> TID
	byThread map[int][]timeline.StrandID
	taken    []Taken
}

// LockQuestion says which Waits the log tells of.
type LockQuestion struct {
	Cause timeline.Cause
	Site  string // function, as dwell names it, in their stacks; "" if not all of them are logged
	Go    bool   // the log is of goroutines
}

// CompareLocks compares such Waits with the log. Threads are matched by TID,
// waits by time. Only what was logged inside [from, to] is compared.
func CompareLocks(rec *recording.Recording, tl *timeline.Timeline, q LockQuestion, truth Truth) LockScore {
	taken := truth.Taken
	l := lockTruth{
		tl: tl, LockQuestion: q, entry: matchRequests(tl, truth).entry,
		strands: map[timeline.StrandID]int{}, byThread: map[int][]timeline.StrandID{}, taken: taken,
	}
	tids := map[recording.ThreadID]int{}
	for _, e := range rec.Events {
		if th, is := e.Fact.(*recording.Thread); is {
			tids[th.ID] = int(th.TID)
		}
	}
	for i := range tl.Strands {
		if s := &tl.Strands[i]; (s.Goroutine != recording.NoGoroutine) == q.Go {
			id, tid := timeline.StrandID(i), tids[s.Thread]
			if q.Go {
				tid = int(s.Goroutine)
			}
			l.strands[id] = tid
			l.byThread[tid] = append(l.byThread[tid], id)
		}
	}
	var score LockScore
	logged := map[timeline.WaitID]bool{}
	for i := range taken {
		k := &taken[i]
		waits := l.waitsIn(k)
		for _, w := range waits {
			logged[w] = true
		}
		if k.wait() >= minWait && k.Asked >= truth.From && k.Had <= truth.To {
			l.compare(&score, k, waits)
		}
	}
	for i := range tl.Waits {
		w := &tl.Waits[i]
		inside := int64(w.From) >= truth.From && int64(w.Back) <= truth.To
		if inside && w.Cause == q.Cause && l.at(w.Stack) && w.Back.Sub(w.From) >= minWait && !logged[timeline.WaitID(i)] {
			score.Extra++
			score.odd("extra", "thread %d, %d ms at %d, rule %s, frames %v", l.strands[w.Strand],
				w.Back.Sub(w.From)/1e6, w.From, w.Rule, tl.StackFrames(w.Stack))
		}
	}
	return score
}

// at reports whether a stack is at the place that the log tells of.
func (l *lockTruth) at(stack timeline.StackID) bool {
	return l.Site != "" && slices.ContainsFunc(l.tl.StackFrames(stack), func(f recording.Frame) bool {
		return strings.HasSuffix(symbol.Name(f), l.Site)
	})
}

// waitsIn are dwell's Waits of the cause that overlap one logged wait of their thread.
func (l *lockTruth) waitsIn(k *Taken) (all []timeline.WaitID) {
	for _, s := range l.byThread[k.Thread] {
		waits := l.tl.Strands[s].Waits
		first, _ := slices.BinarySearchFunc(waits, k.Asked, func(w timeline.WaitID, at int64) int {
			return cmp.Compare(int64(l.tl.Waits[w].Back), at+1)
		})
		for _, w := range waits[first:] {
			if int64(l.tl.Waits[w].From) >= k.Had {
				break
			}
			// Python's interpreter lock is let go while a thread waits for another lock, and
			// waited for before it has that one.
			if cause := l.tl.Waits[w].Cause; cause == l.Cause || cause == timeline.CauseInterpreterLock && len(all) > 0 {
				all = append(all, w)
			}
		}
	}
	return all
}

func (l *lockTruth) compare(score *LockScore, k *Taken, waits []timeline.WaitID) {
	score.Waits++
	score.Truth += k.wait()
	if len(waits) == 0 {
		score.odd("unseen", "thread %d, %d ms at %d", k.Thread, k.wait()/1e6, k.Asked)
		return
	}
	score.Seen++
	var total int64
	request := timeline.RequestID(timeline.None)
	for _, id := range waits {
		w := &l.tl.Waits[id]
		from, to := max(int64(w.From), k.Asked), min(int64(w.Back), k.Had)
		if k.Waited > 0 { // without the time that it was ready to run
			to = min(int64(w.To), k.Had)
		}
		total += max(0, to-from)
		if w.Cause != l.Cause {
			continue // on the way out of the lock: see waitsIn
		}
		request = max(request, w.Request)
		for _, h := range w.Holds {
			claim := span{max(int64(h.From), from), min(int64(h.To), to)}
			right := l.hold(score, k, claim, l.strands[h.Strand])
			if h.Basis == timeline.HoldByRelease {
				score.Woken += max(0, claim.to-claim.from)
				score.Proven += right
			}
		}
	}
	score.Dwell += total
	if tolerance := max(Tolerance, k.wait()*TolerancePercent/100); total >= k.wait()-tolerance && total <= k.wait()+k.Ready+tolerance {
		score.Within++
	} else {
		score.odd("length", "thread %d at %d: %d us, dwell says %d", k.Thread, k.Asked, k.wait()/1000, total/1000)
	}
	if request != timeline.None {
		score.Theirs++
		if id, known := l.entry[request]; known && id == k.ID {
			score.Request++
		}
	}
}

// hold compares one claim that a thread had the lock meanwhile, and returns for how much of it that is right; ns.
func (l *lockTruth) hold(score *LockScore, k *Taken, claim span, tid int) int64 {
	if claim.from >= claim.to {
		return 0
	}
	score.Named += claim.to - claim.from
	var any, own, early []span
	var others string
	for i := range l.taken {
		o := &l.taken[i]
		if o.Lock != k.Lock || o == k {
			continue
		}
		had, asked := claim.and(span{o.Had, o.Left}), claim.and(span{o.Asked, o.Had})
		if had.from < had.to {
			any = append(any, had)
			others += fmt.Sprintf(" %d %d+%d", o.Thread, o.Had/1000, (o.Left-o.Had)/1000)
			if o.Thread == tid {
				own = append(own, had)
			}
		}
		if o.Thread == tid && asked.from < asked.to {
			early = append(early, asked)
		}
	}
	right, handed := length(own), length(early)
	held := length(append(any, early...)) - handed
	score.Early += handed
	score.Held += held
	score.Right += right
	if held-right > Tolerance {
		score.odd("holder", "thread %d waited %d+%d us; dwell says %d had it %d+%d us; the log says %s",
			k.Thread, k.Asked/1000, k.wait()/1000, tid, claim.from/1000, (claim.to-claim.from)/1000, others)
	}
	return right
}

// length of the union of spans; ns.
func length(spans []span) (total int64) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var end int64
	for _, s := range spans {
		if from := max(s.from, end); s.to > from {
			total += s.to - from
			end = s.to
		}
	}
	return total
}

// ReadPauses reads the times in which all threads of a JVM were stopped from its log,
// written with -Xlog:safepoint:file=NAME:tn: each line begins with the end of one.
func ReadPauses(r io.Reader) ([]span, error) {
	var all []span
	in := bufio.NewScanner(r)
	for in.Scan() {
		_, total, is := strings.Cut(in.Text(), "Total: ")
		if !is {
			continue
		}
		var end, length int64
		if _, err := fmt.Sscanf(in.Text(), "[%dns]", &end); err != nil {
			return nil, fmt.Errorf("the time of %q: %w", in.Text(), err)
		}
		if _, err := fmt.Sscanf(total, "%d ns", &length); err != nil {
			return nil, fmt.Errorf("the length of %q: %w", in.Text(), err)
		}
		all = append(all, span{end - length, end})
	}
	return all, in.Err()
}

// The log of pauses is coarse: it has the time when it was written, after the threads
// were let go, and not that for which a thread that needed room waited until the others
// had stopped.
const (
	pausePercent = 15
	pauseSlack   = 5_000_000 // ns
)

// ComparePauses compares the time of each matched request that dwell says a collection
// took, from when it was read, with the pauses in that time; only those where one of
// both is more than the log's slack. It also returns the first of what differs.
func ComparePauses(tl *timeline.Timeline, truth Truth, pauses []span) (a Agreement, odd []string) {
	a.Cause = timeline.CauseGC
	for _, id := range matchRequests(tl, truth).used {
		r := &tl.Requests[id]
		var want, got int64
		for _, p := range pauses {
			want += max(0, min(p.to, int64(r.End))-max(p.from, int64(r.FirstRead)))
		}
		got = caused(r, timeline.CauseGC)
		if max(want, got) < pauseSlack {
			continue
		}
		a.Requests++
		a.Truth += want
		a.Dwell += got
		if off := got - want; max(off, -off) <= max(pauseSlack, want*pausePercent/100) {
			a.Within++
		} else if len(odd) < maxOdd {
			odd = append(odd, fmt.Sprintf("request %d, read at %d, to %d: %d us, dwell says %d", id, r.FirstRead, r.End, want/1000, got/1000))
		}
	}
	if a.Requests > 0 {
		a.Truth /= int64(a.Requests)
		a.Dwell /= int64(a.Requests)
	}
	return a, odd
}
