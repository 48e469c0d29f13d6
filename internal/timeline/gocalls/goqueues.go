package gocalls

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/recording"
)

// A goroutine that waits for a connection of a full pool often does so in a select, of
// which nothing is seen but that it is on no thread. What it waited for shows from
// outside: as it left its thread as many connections of that peer were in use as ever are
// at once; meanwhile one of them was answered, for another request; and the goroutine's
// own call is the very next on that one, soon after. One such wait may be chance. They are
// told only if nine in ten of those before calls to a peer are so, twenty at least.

// goQueue is a wait of a goroutine right before its call.
type goQueue struct {
	call  timeline.CallID
	since recording.Time // it left its thread
}

// Bounds on such waits.
const (
	fewestQueued  = 20
	usuallyFits   = 9         // of ten
	shortestQueue = 500_000   // ns: one that matters
	soonPart      = 4         // of the waits of a peer a connection is idle for a part in so many at most
	changing      = 1_000_000 // ns; a connection that goes from one who waits to the next is used by neither
)

// Queue lets the calls of goroutines that waited for a connection begin when they began
// to wait.
func Queue(t *timeline.Timeline, calls []exchange.Call, runs running.GoRuns) {
	if runs.Stints == nil {
		return
	}
	by := map[pool][]timeline.CallID{}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.SendFrom != recording.NoTime {
			by[pool{c.Process, c.Peer}] = append(by[pool{c.Process, c.Peer}], timeline.CallID(i))
		}
	}
	answers := answersOf(t)
	for _, ids := range by {
		for _, q := range queued(t, ids, waiting{runs, answers}) {
			c := &t.Calls[q.call]
			c.Start = q.since
			exchange.Settle(c, &calls[q.call].Bounds)
		}
	}
}

// waiting tells what requests' goroutines waited for before their calls.
type waiting struct {
	runs    running.GoRuns
	answers [][]recording.Time // of each request's calls, in order
}

func answersOf(t *timeline.Timeline) [][]recording.Time {
	out := make([][]recording.Time, len(t.Requests))
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != timeline.None {
			out[c.Request] = append(out[c.Request], c.End)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// queued returns the waits for a connection among the calls to one peer.
func queued(t *timeline.Timeline, ids []timeline.CallID, w waiting) []goQueue {
	slices.SortFunc(ids, func(a, b timeline.CallID) int {
		return cmp.Or(cmp.Compare(t.Calls[a].SendFrom, t.Calls[b].SendFrom), cmp.Compare(a, b))
	})
	full := inUse(t, ids)
	before := map[recording.ConnID]timeline.CallID{}
	var fit []goQueue
	var chance causality.Tally // odd: it did not fit
	var waited, idle recording.Duration
	for _, id := range ids {
		c := &t.Calls[id]
		last, kept := before[c.Conn]
		before[c.Conn] = id
		q := goQueue{call: id, since: w.parkedBefore(t, c)}
		if q.since == recording.NoTime || c.SendFrom.Sub(q.since) < shortestQueue {
			continue
		}
		fits := kept && !c.New && follows(t, last, q) && (full(t.Calls[last].End-1) || full(max(t.Calls[last].SendFrom, t.Calls[last].End-changing)))
		if chance.Add(!fits); fits {
			waited += c.SendFrom.Sub(q.since)
			idle += c.SendFrom.Sub(t.Calls[last].End)
			fit = append(fit, q)
		}
	}
	if !chance.Holds(fewestQueued, usuallyFits) || soonPart*idle > waited {
		return nil
	}
	return fit
}

// follows reports whether a call was made on a connection that another request's came
// free on while its own goroutine waited.
func follows(t *timeline.Timeline, last timeline.CallID, q goQueue) bool {
	c, before := &t.Calls[q.call], &t.Calls[last]
	return before.Request != c.Request && q.since < before.End && before.End <= c.SendFrom
}

// parkedBefore returns since when the request's goroutine had been on no thread, for a
// reason that is not known, before it ran to make a call; NoTime if it had not.
func (w *waiting) parkedBefore(t *timeline.Timeline, c *timeline.Call) recording.Time {
	if c.Request == timeline.None {
		return recording.NoTime
	}
	r := &t.Requests[c.Request]
	if r.Strand == timeline.None {
		return recording.NoTime
	}
	list := w.runs.Stints[timeline.GoroutineKey{Process: r.Process, Goroutine: t.Strands[r.Strand].Goroutine}]
	k := sort.Search(len(list), func(k int) bool { return list[k].From > c.SendFrom }) - 1
	for ; k > 0; k-- {
		from, to := list[k-1].To, list[k].From
		switch {
		case from < r.FirstRead || list[k].Timer || len(t.WaitsIn(r.Strand, from, to)) > 0:
			return recording.NoTime
		case list[k-1].Yields || to.Sub(from) < shortestQueue && c.SendFrom.Sub(from) < 2*shortestQueue:
			continue // it had to let others run, or paused on its way
		}
		ends := w.answers[c.Request]
		if i := sort.Search(len(ends), func(i int) bool { return ends[i] > from }); i < len(ends) && ends[i] <= c.SendFrom {
			return recording.NoTime // it waited for that
		}
		return from
	}
	return recording.NoTime
}

// inUse returns whether as many calls are under way at a time as ever are at once.
func inUse(t *timeline.Timeline, ids []timeline.CallID) func(recording.Time) bool {
	var begun, over []recording.Time
	for _, id := range ids {
		c := &t.Calls[id]
		begun, over = append(begun, c.SendFrom), append(over, max(c.SendFrom, c.End))
	}
	return timeline.FullAt(begun, over)
}
