package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// TestNumbersAreSaid reads the sentence for each reason to be no finding.
func TestNumbersAreSaid(t *testing.T) {
	for _, c := range []struct {
		name string
		us   int
		lead string
		want string
	}{
		{"minor", 150, "locks take 3.6 % of the time", "locks take 3.6 % of the time; without it, the mean falls by 150 us (150 us to 150 us)"},
		{"next to nothing", 40, "locks take 1.0 % of the time", "locks take 1.0 % of the time; at most 1.0 % of an endpoint's requests or of its slow ones (bound 2.0 %)"},
		{"never happened", 0, "no call was made in 40 requests", "no call was made in 40 requests"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newTimeline()
			every(tl, "GET /", 40, func(int) []piece { return work(c.us) })
			h := taking("x", timeline.CauseLock)
			test := h.Test
			h.Test = func(k *Case) Result {
				r := test(k)
				if r.Lead = c.lead; c.us == 0 {
					r.Candidates = nil
				}
				return r
			}
			d := Diagnose(tl, []Hypothesis{h}, Options{})
			why := ""
			for _, f := range d.Minor {
				why += f.Why
			}
			for _, o := range d.Refuted {
				why += o.Why
			}
			if why != c.want {
				t.Error(why)
			}
		})
	}
}

// TestAQueueIsShownAfterItsCause: the cause explains a fifth of the queue, which is larger than the cause in total.
func TestAQueueIsShownAfterItsCause(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{{timeline.PhaseUnread, timeline.CauseEventLoop, 8000}, {timeline.PhaseUnread, timeline.CauseLock, 2000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 500}}
	})
	queue := taking("queue", timeline.CauseEventLoop)
	queue.Queue = true
	queue.Test = func(c *Case) Result {
		return Result{Candidates: []Candidate{{Spans: c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread })}}}
	}
	cause := taking("cause", timeline.CauseLock)
	cause.Explains = []string{"queue"}
	d := Diagnose(tl, []Hypothesis{queue, cause}, Options{})
	if len(d.Findings) != 2 || d.Findings[0].ID != "cause" || d.Findings[1].ID != "queue" {
		t.Errorf("%+v", d.Findings)
	}
}
