package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// TestRefutedSaysItsNumberAndBound reads the sentence of each way to be refuted.
func TestRefutedSaysItsNumberAndBound(t *testing.T) {
	even := func(int) []piece { return work(400) }
	mostly := func(i int) []piece {
		us := 6000
		if i%20 == 19 {
			us = 12_000
		}
		return work(us)
	}
	for _, c := range []struct {
		name  string
		shape func(int) []piece
		where bool
		lead  string
		want  string
	}{
		{"too small a saving", even, false, "locks take 29 % of the time",
			"locks take 29 % of the time; taken out, p99 falls by 400 us (bound 1.00 ms)"},
		{"where, but not why they are slow", mostly, true, "the peer takes 86 % of the time",
			"the peer takes 86 % of the time, but p99 is 1.6 x p50 (bound 3 x)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newTimeline()
			every(tl, "GET /", 100, c.shape)
			h := taking("x", timeline.CauseLock)
			h.Where = c.where
			test := h.Test
			h.Test = func(k *Case) Result { r := test(k); r.Lead = c.lead; return r }
			d := Diagnose(tl, []Hypothesis{h}, Options{})
			if len(d.Refuted) != 1 || d.Refuted[0].Why != c.want {
				t.Errorf("%+v", d.Refuted)
			}
		})
	}
	t.Run("never happened", func(t *testing.T) {
		tl := newTimeline()
		every(tl, "GET /", 40, even)
		h := taking("x", timeline.CauseLock)
		h.Test = func(*Case) Result { return Result{Lead: "no call was made in 40 requests"} }
		if d := Diagnose(tl, []Hypothesis{h}, Options{}); len(d.Refuted) != 1 || d.Refuted[0].Why != "no call was made in 40 requests" {
			t.Errorf("%+v", d.Refuted)
		}
	})
}

// TestRefutedSaysWhatItSavesAlone: one request in ten waits for a lock, another one for an
// answer as long, so that p99 stays without the lock. It falls without the answers and the
// lock, but that refutes nothing.
func TestRefutedSaysWhatItSavesAlone(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 100, func(i int) []piece {
		answer := piece{timeline.PhaseRemote, timeline.CauseRemote, 3000}
		switch i % 10 {
		case 3:
			return []piece{{timeline.PhaseHandler, timeline.CauseLock, 40_000}, answer}
		case 7:
			answer.us += 40_000
		}
		return []piece{answer}
	})
	d := Diagnose(tl, []Hypothesis{taking("peer", timeline.CauseRemote), taking("lock", timeline.CauseLock)}, Options{})
	const why = "neither p50 nor p99 falls (bound 4.30 ms)"
	if len(d.Findings) != 1 || len(d.Refuted) != 1 || d.Refuted[0].Why != why {
		t.Errorf("%+v, %+v, expected the lock to be refuted: %s", d.Findings, d.Refuted, why)
	}
}

// TestAQueueIsShownAfterItsCause: the cause explains a fifth of the queue, which is
// larger than the cause in all.
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
