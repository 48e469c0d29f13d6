package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Condition is what threads have to do for a dump to be made.
type Condition struct {
	What    string // blocked, runnable or running
	More    int64  // more threads than this
	Percent bool   // More is a percentage of the threads that worked for requests, or were blocked, at any time
}

// ParseCondition reads a condition such as "blocked>50%" or "runnable>10".
func ParseCondition(text string) (Condition, error) {
	what, more, ok := strings.Cut(strings.ReplaceAll(text, " ", ""), ">")
	c := Condition{What: what}
	more, c.Percent = strings.CutSuffix(more, "%")
	n, err := strconv.ParseInt(more, 10, 64)
	if !ok || err != nil || n < 0 || c.Percent && n >= 100 || !slices.Contains([]string{"blocked", "runnable", "running"}, what) {
		return c, fmt.Errorf("condition %q: want such as 'blocked>50%%', 'runnable>10' or 'running>4'", text)
	}
	c.More = n
	return c, nil
}

// briefly is the minimum length of a span that represents what was going on.
const briefly Duration = 1_000_000

// MostBlocked returns the middle of the longest span in which most threads were blocked, and how many they were.
// Blocked means waiting for a lock, an interpreter lock or a pool. Among spans with equally many, it prefers those in
// which most holders are known; for waits that are still open when the recording ends they are not. Spans under a
// millisecond count only if there are no others.
func MostBlocked(tl *timeline.Timeline) (timeline.Time, int) {
	var best counted
	for _, s := range spansOf(tl, "blocked") {
		if s.more(best) {
			best = s
		}
	}
	return best.from + (best.to-best.from)/2, best.count
}

// more reports whether a span shows blocked threads better than another one.
func (s counted) more(than counted) bool {
	a, b := s.to.Sub(s.from), than.to.Sub(than.from)
	if (a >= briefly) != (b >= briefly) {
		return a >= briefly
	}
	return cmp.Or(cmp.Compare(s.count, than.count), cmp.Compare(s.known, than.known), cmp.Compare(a, b)) > 0
}

// flicker is for how long a condition may be false and still count as continuous.
const flicker Duration = 50_000_000

// When returns the instants at which a condition begins to hold: the middle of the first span of each stretch in
// which it holds.
func When(tl *timeline.Timeline, c Condition) []timeline.Time {
	var out []timeline.Time
	base := int64(len(workers(tl)))
	held := recording.NoTime - timeline.Time(flicker)
	for _, s := range spansOf(tl, c.What) {
		holds := int64(s.count) > c.More
		if c.Percent {
			holds = int64(s.count)*100 > c.More*base
		}
		if holds && s.from.Sub(held) >= flicker {
			out = append(out, s.from+(s.to-s.from)/2)
		}
		if holds {
			held = s.to
		}
	}
	return out
}

// workers are the threads that worked for a request, or were blocked, at any time.
func workers(tl *timeline.Timeline) map[timeline.StrandID]bool {
	of := map[timeline.StrandID]bool{}
	for i := range tl.Requests {
		if s := tl.Requests[i].Strand; s != timeline.None {
			of[s] = true
		}
		for _, p := range tl.Requests[i].Parts {
			of[p.Strand] = true
		}
	}
	for i := range tl.Waits {
		if blocks(tl.Waits[i].Cause) {
			of[tl.Waits[i].Strand] = true
		}
	}
	return of
}

// counted is a span in which a number of threads did one thing.
type counted struct {
	from, to timeline.Time
	count    int
	known    int // those of them that are blocked by a known thread
}

// edge is a time at which a thread began or ended to do something.
type edge struct {
	at          timeline.Time
	more, known int
}

// spansOf returns, in order, the spans in which threads did something, with their number.
func spansOf(tl *timeline.Timeline, what string) []counted {
	var edges []edge
	add := func(from, to timeline.Time, known int) {
		if from < to {
			edges = append(edges, edge{from, 1, known}, edge{to, -1, -known})
		}
	}
	if what == "blocked" {
		for i := range tl.Waits {
			w := &tl.Waits[i]
			if !blocks(w.Cause) {
				continue
			}
			known := min(1, len(w.Holds))
			if tl.Strands[w.Strand].Goroutine != recording.NoGoroutine {
				add(w.From, w.To, known)
			}
			// Woken in vain, it is awake briefly within its wait: it does not count as blocked then, as in a dump.
			for _, iv := range intervals(&tl.Strands[w.Strand], w.From, w.To) {
				if iv.State != timeline.StateRunning && iv.State != timeline.StateRunnable {
					add(max(iv.From, w.From), min(iv.To, w.To), known)
				}
			}
		}
	} else {
		state := map[string]timeline.State{"running": timeline.StateRunning, "runnable": timeline.StateRunnable}[what]
		for i := range tl.Strands {
			for _, iv := range tl.Strands[i].Intervals {
				if iv.State == state {
					add(iv.From, iv.To, 0)
				}
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.more, a.more)) })
	var out []counted
	n, known := 0, 0
	for i, e := range edges {
		n += e.more
		known += e.known
		if i+1 < len(edges) && n > 0 && e.at < edges[i+1].at {
			out = append(out, counted{e.at, edges[i+1].at, n, known})
		}
	}
	return out
}
