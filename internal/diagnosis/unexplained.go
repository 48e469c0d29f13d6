package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Unexplained is a cause that takes half of an endpoint's ordinary or slow requests and that no finding, lead or dominant mechanism
// covers. Computing, waits for peers and for processors, and unknown time are reported elsewhere.
type Unexplained struct {
	Endpoint       string
	Cause          timeline.Cause
	Ordinary, Slow Share            // of the time of ordinary and of slow requests
	Stack          timeline.StackID // of a wait at the place where most of that time is spent; None if the place is not known
}

// unexplained lists them by endpoint.
func unexplained(j *judge) (out []Unexplained) {
	var told []Span // made only if some cause takes half
	for i := range j.Symptoms {
		s := &j.Symptoms[i]
		for cause := range timeline.NumCauses {
			switch cause {
			case timeline.CauseOnCPU, timeline.CauseRunnable, timeline.CauseRemote, timeline.CauseUnknown:
				continue
			}
			if max(uncovered(j, s.Ordinary, cause, nil), uncovered(j, s.Slow, cause, nil)) < Whole/2 {
				continue
			}
			if told == nil {
				told = toldOf(j)
			}
			x := Unexplained{s.Endpoint, cause, uncovered(j, s.Ordinary, cause, told), uncovered(j, s.Slow, cause, told), timeline.None}
			if max(x.Ordinary, x.Slow) >= Whole/2 {
				x.Stack = mostAt(j, slices.Concat(s.Ordinary, s.Slow), cause)
				out = append(out, x)
			}
		}
	}
	return out
}

// toldOf returns the time that findings, leads and dominant mechanisms cover, as normal spans.
func toldOf(j *judge) (told []Span) {
	for _, cd := range j.cands {
		dominates := func(d Dominant) bool { return d.ID == cd.trial.ID && d.Place == cd.Place }
		if cd.taken || cd.lead || slices.ContainsFunc(j.out.Dominant, dominates) {
			told = both(told, cd.seen)
		}
	}
	return told
}

// uncovered is the share of some requests' time that is of one cause, and 0 if a tenth of that is told: a mechanism may promise part
// of what it explains.
func uncovered(j *judge, ids []RequestID, cause timeline.Cause, told []Span) Share {
	spans := j.Merged(j.spansIn(ids, 1<<cause, func(*timeline.Request, *timeline.Segment) bool { return true }))
	if all := Total(spans); overlap(spans, told) <= all/10 {
		return ShareOf(int64(all), int64(j.meanOf(ids))*int64(len(ids)))
	}
	return 0
}

// mostAt returns the stack of a wait at the place in code where some requests spend most time of one cause.
func mostAt(j *judge, ids []RequestID, cause timeline.Cause) (most timeline.StackID) {
	by, at := map[timeline.FrameID]Duration{}, timeline.FrameID(timeline.None)
	most = timeline.None
	j.spansIn(ids, 1<<cause, func(_ *timeline.Request, g *timeline.Segment) bool {
		if g.Strand == timeline.None {
			return false
		}
		w := j.WaitAt(g.Strand, g.From)
		if w == timeline.None || j.Waits[w].Stack == timeline.None {
			return false
		}
		f := j.SiteFrame(j.Waits[w].Stack)
		if by[f] += g.To.Sub(g.From); f == at || by[f] > by[at] {
			at, most = f, j.Waits[w].Stack
		}
		return false
	})
	return most
}
