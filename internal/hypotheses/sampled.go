package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// eachSampled visits the pieces of some requests' own CPU around each sample of a
// stack that was taken in them.
func eachSampled(c *diagnosis.Case, ids []diagnosis.RequestID, visit func(diagnosis.RequestID, *timeline.Activity)) {
	if len(c.Stacks) == 0 {
		return
	}
	for _, id := range ids {
		r := &c.Requests[id]
		for i := range r.Segments {
			s := &r.Segments[i]
			if !ownCPU(s) || s.Strand == timeline.None || !sampledIn(c, s) {
				continue
			}
			for _, a := range c.Doing(s.Strand, s.From, s.To) {
				if a.Cause == timeline.CauseOnCPU && a.Stack != timeline.None {
					visit(id, &a)
				}
			}
		}
	}
}

// sampledIn reports whether a stack on a CPU was sampled within a segment.
func sampledIn(c *diagnosis.Case, s *timeline.Segment) bool {
	return slices.ContainsFunc(c.StacksIn(s.Strand, s.From, s.To), func(a timeline.StackAt) bool { return a.Origin == recording.StackOnCPU })
}

// share is a place in code with its share of what was sampled.
type share struct {
	name string
	part diagnosis.Share
}

// topFrames returns the places in code where requests computed most, of samples; nil
// if there are too few to say.
func topFrames(c *diagnosis.Case, ids []diagnosis.RequestID, most int) (top []share, samples int) {
	at := tally{}
	var all Duration
	eachSampled(c, ids, func(_ diagnosis.RequestID, a *timeline.Activity) {
		samples++
		at[site(c, a.Stack)] += a.To.Sub(a.From)
		all += a.To.Sub(a.From)
	})
	if samples < fewSamples {
		return nil, samples
	}
	for name, d := range at {
		if name != "" {
			top = append(top, share{name, diagnosis.ShareOf(int64(d), int64(all))})
		}
	}
	slices.SortFunc(top, func(a, b share) int { return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(a.name, b.name)) })
	return top[:min(len(top), most)], samples
}

// fewSamples is under how many samples no code is named.
const fewSamples = 10
