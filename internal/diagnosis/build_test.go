package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// every makes n requests of one endpoint, 10 ms apart; shape returns the segments of each as lengths in microseconds.
type piece struct {
	phase timeline.Phase
	cause timeline.Cause
	us    int
}

func every(tl *timeline.Timeline, endpoint string, n int, shape func(i int) []piece) {
	for i := range n {
		id := timeline.RequestID(len(tl.Requests))
		r := timeline.Request{ID: id, RequestBy: &timeline.RequestBy{Endpoint: endpoint}, RequestMore: &timeline.RequestMore{}, Strand: timeline.None, Start: Time(i+1) * 10_000_000}
		at := r.Start
		var list []timeline.Segment
		for _, p := range shape(i) {
			to := at + Time(p.us)*1000
			list = append(list, timeline.Segment{From: at, To: to, Phase: p.phase, Cause: p.cause, Call: timeline.None, Strand: timeline.None, Blocker: timeline.None})
			at = to
		}
		r.End = at
		r.SetSegments(list)
		tl.Requests = append(tl.Requests, r)
		tl.End = max(tl.End, at)
	}
}

func newTimeline() *timeline.Timeline {
	return &timeline.Timeline{Manifest: recording.Manifest{Hooks: "io sched"}, Start: 1}
}

// taking returns a hypothesis that blames all time of one cause.
func taking(id string, cause timeline.Cause) Hypothesis {
	return Hypothesis{ID: id, Needs: []string{recording.HookIO}, Test: func(c *Case) Result {
		spans := c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Cause == cause })
		return Result{
			Candidates: []Candidate{{Place: id, Spans: spans}},
			Evidence:   []Evidence{NS("its time", Total(spans))},
		}
	}}
}

// but returns a hypothesis with a changed first candidate.
func but(h Hypothesis, otherwise func(*Case, *Candidate)) Hypothesis {
	test := h.Test
	h.Test = func(c *Case) Result {
		r := test(c)
		otherwise(c, &r.Candidates[0])
		return r
	}
	return h
}

func verdicts(d *Diagnosis) map[string]string {
	out := map[string]string{}
	for _, f := range d.Findings {
		out[f.ID] = "found"
	}
	for _, f := range d.Leads {
		out[f.ID] = "lead"
	}
	for _, f := range d.Minor {
		out[f.ID] = "minor"
	}
	for _, o := range d.Refuted {
		out[o.ID] = "ruled out"
	}
	for _, o := range d.Undecided {
		out[o.ID] = "undecided"
	}
	return out
}

func expect(t *testing.T, d *Diagnosis, want map[string]string) {
	t.Helper()
	got := verdicts(d)
	for id, v := range want {
		if got[id] != v {
			t.Errorf("%s is %s, want %s", id, got[id], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}
