package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// hooks are the known ones: a loss of their facts affects only what needs them.
var hooks = []string{
	recording.HookSched, recording.HookWakings, recording.HookProcesses, recording.HookSockets, recording.HookIO,
	recording.HookArrivals, recording.HookDNS, recording.HookTLS, recording.HookGoroutines,
	recording.HookAsync, recording.HookBoundaries, recording.HookSamples, recording.HookStacks, recording.HookHost,
}

// concerns reports whether facts that a hook lost matter to something that needs some hooks. The loss of an unknown
// hook concerns everything.
func concerns(hook string, needs []string) bool {
	return slices.Contains(needs, hook) || !slices.Contains(hooks, hook)
}

// doubt is what a hypothesis may not rest on, because facts that it needs were lost. It is nil if none were.
type doubt struct {
	j     *judge
	lossy []bool           // per request: facts were lost while it ran that may change it
	sched []timeline.Stint // scheduling facts were lost in these spans; in order, disjoint
	cuts  map[timeline.StrandID][]timeline.Stint
}

// doubts finds what losses make doubtful to a hypothesis with some needs. A lost scheduling fact leaves a strand's
// state unknown from the previous fact to the next one; any other lost fact may change a whole request.
func (j *judge) doubts(needs []string) *doubt {
	var sched, other []timeline.Stint
	for _, l := range j.Losses {
		switch {
		case !concerns(l.Hook, needs):
		case l.Hook == recording.HookSched:
			sched = append(sched, timeline.Stint{From: l.From, To: l.To})
		default:
			other = append(other, timeline.Stint{From: l.From, To: l.To})
		}
	}
	if len(sched)+len(other) == 0 {
		return nil
	}
	d := &doubt{j: j, lossy: make([]bool, len(j.Requests)), sched: timeline.MergeStints(sched), cuts: map[timeline.StrandID][]timeline.Stint{}}
	other = timeline.MergeStints(other)
	for i := range j.Requests {
		r := &j.Requests[i]
		d.lossy[i] = touches(other, r.Start, r.End) || r.Strand == timeline.None && touches(d.sched, r.Start, r.End)
	}
	return d
}

// touches reports whether one of the ordered, disjoint spans meets another span.
func touches(spans []timeline.Stint, from, to Time) bool {
	k := firstAfter(spans, from)
	return k < len(spans) && spans[k].From <= to
}

// firstAfter returns the index of the first span that ends at or after a time.
func firstAfter(spans []timeline.Stint, at Time) int {
	k, _ := slices.BinarySearchFunc(spans, at, func(s timeline.Stint, at Time) int { return cmp.Compare(s.To, at) })
	return k
}

// of returns the spans in which the state of a strand is not known.
func (d *doubt) of(id timeline.StrandID) []timeline.Stint {
	if cuts, ok := d.cuts[id]; ok {
		return cuts
	}
	cuts := slices.Clone(d.sched)
	ivs := d.j.Strands[id].Intervals
	for _, l := range d.sched {
		i, _ := slices.BinarySearchFunc(ivs, l.From, func(iv timeline.Interval, at Time) int { return cmp.Compare(iv.To, at) })
		for ; i < len(ivs) && ivs[i].From <= l.To; i++ {
			cuts = append(cuts, timeline.Stint{From: ivs[i].From, To: ivs[i].To})
		}
	}
	d.cuts[id] = timeline.MergeStints(cuts)
	return d.cuts[id]
}

// sure removes from spans what is doubtful.
func (d *doubt) sure(spans []Span) []Span {
	if d == nil {
		return spans
	}
	var out []Span
	for _, s := range spans {
		if d.lossy[s.Request] {
			continue
		}
		strand := d.j.Requests[s.Request].Strand
		if strand == timeline.None {
			out = append(out, s)
			continue
		}
		cuts := d.of(strand)
		for k := firstAfter(cuts, s.From); k < len(cuts) && cuts[k].From < s.To; k++ {
			if cuts[k].From > s.From {
				out = append(out, Span{s.Request, s.From, cuts[k].From})
			}
			s.From = max(s.From, cuts[k].To)
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// losses counts, by hook, the facts that were lost while measured requests ran.
func (j *judge) losses() map[string]int64 {
	by := map[string]int64{}
	for _, l := range j.Losses {
		for _, id := range j.measured {
			if r := &j.Requests[id]; r.Start <= l.To && l.From <= r.End {
				by[l.Hook] += l.Count
				break
			}
		}
	}
	return by
}

// spans returns what is doubtful of the measured requests.
func (d *doubt) spans() []Span {
	if d == nil {
		return nil
	}
	var out []Span
	for i := range d.j.Requests {
		r := &d.j.Requests[i]
		if !r.Measured() {
			continue
		}
		if d.lossy[i] {
			out = append(out, Span{RequestID(i), r.Start, r.End})
			continue
		}
		if r.Strand == timeline.None {
			continue
		}
		cuts := d.of(r.Strand)
		for k := firstAfter(cuts, r.Start); k < len(cuts) && cuts[k].From < r.End; k++ {
			out = append(out, Span{RequestID(i), cuts[k].From, cuts[k].To})
		}
	}
	return normal(d.j.Timeline, out)
}

// unseen returns why lost facts keep a hypothesis from being refuted; "" if they do not. There are two reasons. So many
// facts were lost that requests may be missing. Or the time that is doubtful or of unknown cause could belong to the
// hypothesis, and would be worth having.
func (j *judge) unseen(t *trial) string {
	var n int64
	for hook, count := range j.lost {
		if concerns(hook, t.Needs) {
			n += count
		}
	}
	if n == 0 {
		return ""
	}
	lost := Plural(int(n), "fact") + " lost while requests ran"
	if ShareOf(n, int64(len(j.Overall.Requests))) >= j.Present {
		return lost
	}
	spans := normal(j.Timeline, slices.Concat(t.doubt.spans(), t.res.Hidden))
	s := j.possible(t, spans, j.might)
	if s == nil {
		return ""
	}
	return lost + ": up to " + j.upTo(s, spans) + "could be its"
}
