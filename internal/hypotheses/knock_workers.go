package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// behindWorkers returns what requests wait for a worker in the very time in which that
// worker waited, for another request, for something that is to go.
func behindWorkers(c *diagnosis.Case, gone []stay) (out []diagnosis.Span) {
	on := map[timeline.StrandID][]diagnosis.Span{}
	for i := range gone {
		if s := gone[i].strand; s != timeline.None {
			on[s] = append(on[s], gone[i].Span)
		}
	}
	sums := map[timeline.StrandID]*busySum{}
	for s, spans := range on {
		slices.SortFunc(spans, func(a, b diagnosis.Span) int { return cmp.Compare(a.From, b.From) })
		b := sumOf(spans)
		sums[s] = &b
	}
	for _, id := range c.Overall.Requests {
		r := &c.Requests[id]
		for i := range r.Segments {
			s := &r.Segments[i]
			if s.Cause != timeline.CausePool || sums[s.Strand] == nil {
				continue
			}
			out = append(out, sums[s.Strand].in(diagnosis.Span{Request: id, From: s.From, To: s.To})...)
		}
	}
	return out
}

// served are the spans in which a strand worked for measured requests, in order.
type served struct {
	window
	request diagnosis.RequestID
}

// servedBy lists, for some strands, which measured requests they worked for and when.
func servedBy(c *diagnosis.Case, strands map[timeline.StrandID]bool) map[timeline.StrandID][]served {
	out := map[timeline.StrandID][]served{}
	for _, id := range c.Overall.Requests {
		r := &c.Requests[id]
		if strands[r.Strand] {
			out[r.Strand] = append(out[r.Strand], served{window{r.FirstRead, r.End}, id})
		}
		for _, p := range r.Parts {
			if strands[p.Strand] {
				out[p.Strand] = append(out[p.Strand], served{window{p.From, p.To}, id})
			}
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b served) int { return cmp.Compare(a.from, b.from) })
	}
	return out
}

// ownTime returns what spans of holders are in the time of the requests that they
// worked for: the holder's own wait is lost to its request, too.
func ownTime(c *diagnosis.Case, did []held) (out []diagnosis.Span) {
	strands := map[timeline.StrandID]bool{}
	for i := range did {
		strands[did[i].strand] = did[i].strand != timeline.None
	}
	by := servedBy(c, strands)
	for i := range did {
		h := &did[i]
		list := by[h.strand]
		n, _ := slices.BinarySearchFunc(list, h.From, func(s served, t diagnosis.Time) int { return cmp.Compare(s.from, t+1) })
		if n == 0 || list[n-1].to <= h.From {
			continue
		}
		r := &c.Requests[list[n-1].request]
		for k := range r.Segments {
			s := &r.Segments[k]
			if from, to := max(s.From, h.From), min(s.To, h.To); s.Strand == h.strand && from < to {
				out = append(out, diagnosis.Span{Request: r.ID, From: from, To: to})
			}
		}
	}
	return out
}
