package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// window is a span of time, as of something that belongs to no known request.
type window struct{ from, to diagnosis.Time }

// unowned collects a window from each call that belongs to no known request; of returns an empty one if it is not
// known.
func unowned(c *diagnosis.Case, calls []timeline.CallID, of func(*timeline.Call) window) (ws []window) {
	for _, id := range calls {
		if call := &c.Calls[id]; call.Request == timeline.None {
			ws = append(ws, of(call))
		}
	}
	return ws
}

// remoteOf is the span in which a call was at its peer.
func remoteOf(k *timeline.Call) window { return window{k.SendFrom, max(k.Arrived, k.FirstRead)} }

// hiddenIn returns the time of requests that could belong to what went on in the windows. That is time within them that
// is not accounted for, or in which a request waited for another thread without it being known what that did for it.
func hiddenIn(c *diagnosis.Case, ws []window) (out []diagnosis.Span) {
	ws = slices.DeleteFunc(ws, func(w window) bool { return w.from == recording.NoTime || w.to <= w.from })
	if len(ws) == 0 {
		return nil
	}
	slices.SortFunc(ws, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	merged := ws[:1]
	for _, w := range ws[1:] {
		if last := &merged[len(merged)-1]; w.from <= last.to {
			last.to = max(last.to, w.to)
		} else {
			merged = append(merged, w)
		}
	}
	gaps := append(c.Gaps(), c.SpansOf(timeline.CauseCondition, func(*timeline.Request, *timeline.Segment) bool { return true })...)
	for _, g := range gaps {
		i, _ := slices.BinarySearchFunc(merged, g.From, func(w window, t diagnosis.Time) int {
			if w.to <= t {
				return -1
			}
			return 1
		})
		for ; i < len(merged) && merged[i].from < g.To; i++ {
			out = append(out, diagnosis.Span{Request: g.Request, From: max(g.From, merged[i].from), To: min(g.To, merged[i].to)})
		}
	}
	return out
}

// waitsAway says that at least a tenth of all request time is waiting for others, or for something unknown, while
// threads of the service waited for a cause that work for no request as far as is known. What they did may have been
// for the requests. "" if it is less.
func waitsAway(c *diagnosis.Case, cause timeline.Cause, words string) string {
	var ws []window
	serves := serving(c).serving
	for i := range c.Waits {
		if w := &c.Waits[i]; w.Cause == cause && w.Request == timeline.None && serves[c.Strands[w.Strand].Process] {
			ws = append(ws, window{w.From, w.To})
		}
	}
	share := diagnosis.ShareOf(int64(diagnosis.Total(hiddenIn(c, ws))), int64(c.Time()))
	if share < diagnosis.Whole/10 {
		return ""
	}
	return diagnosis.Percent(share) + " of all request time is spent waiting for other threads, while threads that serve no known request " + words
}
