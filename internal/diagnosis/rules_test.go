package diagnosis

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// work is 4 ms of CPU and a wait of us.
func work(us int) []piece {
	return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000}, {timeline.PhaseHandler, timeline.CauseLock, us}}
}

// What is worth having is a share, whatever the requests take, down to what can be measured.
func TestWorthHavingIsRelative(t *testing.T) {
	for _, c := range []struct {
		name      string
		cpu, wait int // microseconds
		worth     Share
		want      string
	}{
		{"2 of 6 ms", 4000, 2000, 0, "found"},
		{"0.3 of 0.9 ms", 600, 300, 0, "found"},
		{"a twentieth", 1900, 100, 0, "found"},
		{"4 %", 960, 40, 0, "minor"},
		{"4 % of a minute", 57_600_000, 2_400_000, 0, "minor"},
		{"30 % is too little for who asks for 40", 700, 300, Whole * 4 / 10, "minor"},
		{"a tenth, which is less than can be measured", 90, 10, 0, "minor"},
		{"1.9 %", 981, 19, 0, "ruled out"},
		{"nothing", 1000, 0, 0, "ruled out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newTimeline()
			every(tl, "GET /", 40, func(int) []piece {
				return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, c.cpu}, {timeline.PhaseHandler, timeline.CauseLock, c.wait}}
			})
			expect(t, Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{Worth: c.worth}), map[string]string{"lock": c.want})
		})
	}
}

func TestMinorSaysWhatItIsWorth(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(i int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 100_000}, {timeline.PhaseHandler, timeline.CauseLock, 4000 + i*10}}
	})
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{})
	expect(t, d, map[string]string{"lock": "minor"})
	im := d.Minor[0].Impact
	if im.Mean != 4_195_000 || im.MeanRange.Low >= im.Mean || im.MeanRange.High <= im.Mean {
		t.Errorf("%+v", im)
	}
}

func TestUndecided(t *testing.T) {
	hyp := taking("lock", timeline.CauseLock)
	healthy := func(n int) *timeline.Timeline {
		tl := newTimeline()
		every(tl, "GET /", n, func(int) []piece { return work(0) })
		return tl
	}
	t.Run("hook was off", func(t *testing.T) {
		tl := healthy(40)
		tl.Manifest.Hooks = "sched"
		d := Diagnose(tl, []Hypothesis{hyp}, Options{})
		expect(t, d, map[string]string{"lock": "undecided"})
		if d.Undecided[0].Missing != "not recorded: io" {
			t.Error(d.Undecided[0].Missing)
		}
	})
	t.Run("too few requests", func(t *testing.T) {
		expect(t, Diagnose(healthy(19), []Hypothesis{hyp}, Options{}), map[string]string{"lock": "undecided"})
		expect(t, Diagnose(healthy(20), []Hypothesis{hyp}, Options{}), map[string]string{"lock": "ruled out"})
	})
	t.Run("too few requests, and what they show", func(t *testing.T) {
		tl := newTimeline()
		every(tl, "GET /", 7, func(int) []piece { return work(2000) })
		expect(t, Diagnose(tl, []Hypothesis{hyp}, Options{}), map[string]string{"lock": "lead"})
	})
	t.Run("loss inside a request", func(t *testing.T) {
		tl := healthy(40)
		tl.Losses = []timeline.Loss{{Hook: recording.HookIO, From: tl.Requests[7].Start, To: tl.Requests[7].End, Count: 3}}
		tl.Requests[7].Lossy = true
		expect(t, Diagnose(tl, []Hypothesis{hyp}, Options{}), map[string]string{"lock": "undecided"})
	})
	t.Run("loss of a hook that it does not need", func(t *testing.T) {
		tl := healthy(40)
		tl.Losses = []timeline.Loss{{Hook: recording.HookDNS, From: tl.Requests[7].Start, To: tl.Requests[7].End, Count: 3}}
		expect(t, Diagnose(tl, []Hypothesis{hyp}, Options{}), map[string]string{"lock": "ruled out"})
	})
	t.Run("loss between requests", func(t *testing.T) {
		tl := healthy(40)
		tl.Losses = []timeline.Loss{{Hook: recording.HookIO, From: tl.Requests[7].End + 1, To: tl.Requests[8].Start - 1, Count: 3}}
		expect(t, Diagnose(tl, []Hypothesis{hyp}, Options{}), map[string]string{"lock": "ruled out"})
	})
	t.Run("hidden time could be its", func(t *testing.T) {
		tl := newTimeline()
		every(tl, "GET /", 40, func(int) []piece {
			return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000}, {timeline.PhaseHandler, timeline.CauseUnknown, 2000}}
		})
		h := hyp
		h.Test = func(c *Case) Result { return Result{Hidden: c.Gaps()} }
		expect(t, Diagnose(tl, []Hypothesis{h}, Options{}), map[string]string{"lock": "undecided"})
	})
}

// Now and then a lock stops all requests for 300 ms. If something happened only a few times, nobody can know whether it
// will happen in another hour; it is still reported.
func TestWhatHappenedOnceIsALead(t *testing.T) {
	for _, c := range []struct {
		name      string
		stopped   []int // of 20 runs of ten requests each
		want, why string
	}{
		{"six times", []int{1, 4, 8, 11, 14, 17}, "found", ""},
		{"twice", []int{5, 9}, "lead", "happened 2 times, at +514 ms and +914 ms"},
		{"once", []int{5}, "lead", "happened once, at +514 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newTimeline()
			every(tl, "GET /", 200, func(i int) []piece {
				p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000}}
				if slices.Contains(c.stopped, i/10) {
					p = append(p, piece{timeline.PhaseHandler, timeline.CauseLock, 300_000 - i%10*10_000})
				}
				return p
			})
			d := Diagnose(tl, []Hypothesis{but(taking("lock", timeline.CauseLock), func(_ *Case, cd *Candidate) { cd.Fix = "hold it for less" })}, Options{})
			expect(t, d, map[string]string{"lock": c.want})
			if len(d.Leads) == 1 && (d.Leads[0].Why != c.why || d.Leads[0].Decide != "record for longer: if it happens again, hold it for less") {
				t.Error(d.Leads[0].Why, d.Leads[0].Decide)
			}
		})
	}
}

// If more was seen of a mechanism than removing it would save, such as a queue for work that stays, it is no finding;
// but it must not be hidden.
func TestWhatWasSeenIsALead(t *testing.T) {
	lock := Hypothesis{ID: "lock", Test: func(c *Case) Result {
		all := c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Cause == timeline.CauseLock })
		gone := slices.Clone(all)
		for i := range gone {
			gone[i].To = gone[i].From + 30_000
		}
		return Result{Candidates: []Candidate{{Place: "lock", Spans: gone, Seen: all, Next: "play it with half of the work"}}}
	}}
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(8000) })
	d := Diagnose(tl, []Hypothesis{lock}, Options{})
	expect(t, d, map[string]string{"lock": "lead"})
	if l := d.Leads[0]; l.Impact.Mean != 8*milli || l.Decide != "play it with half of the work" {
		t.Errorf("%+v", l)
	}
	if len(d.Dominant) != 1 || d.Dominant[0].Mean != 666_666 {
		t.Errorf("%+v", d.Dominant)
	}
}

// What may go away as well counts towards the most that a lead could save.
func TestTheMostOfALead(t *testing.T) {
	h := but(taking("peer", timeline.CauseLock), func(_ *Case, cd *Candidate) {
		cd.Decide, cd.Spans, cd.May = "a look at the peer", cd.Spans[:30], cd.Spans[30:]
	})
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(8000) })
	d := Diagnose(tl, []Hypothesis{h}, Options{})
	expect(t, d, map[string]string{"peer": "lead"})
	if im := d.Leads[0].Impact; im.Mean != 8*milli || im.Requests != 40 {
		t.Errorf("%+v", im)
	}
}

// What may be a peer's own, entirely or not at all, does not follow from a finding that has other time.
func TestWhatMayGoFollowsFromWhatHasItsTime(t *testing.T) {
	for _, c := range []struct {
		cause timeline.Cause
		want  string
	}{{timeline.CauseLock, "lead"}, {timeline.CauseRemote, "minor"}} {
		peer := but(taking("slow-peer", timeline.CauseRemote), func(_ *Case, cd *Candidate) { cd.Seen, cd.May, cd.Spans = cd.Spans, cd.Spans, nil })
		peer.Where = true
		line := taking("line", c.cause)
		line.Explains = []string{"slow-peer"}
		tl := newTimeline()
		every(tl, "GET /", 40, func(int) []piece {
			return append(work(8000), piece{timeline.PhaseRemote, timeline.CauseRemote, 8000})
		})
		expect(t, Diagnose(tl, []Hypothesis{line, peer}, Options{}), map[string]string{"line": "found", "slow-peer": c.want})
	}
}

func TestWhatIsNotProvenIsALead(t *testing.T) {
	h := but(taking("serial", timeline.CauseLock), func(_ *Case, cd *Candidate) { cd.Decide = "whether a call needs the answer to the one before" })
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(8000) })
	d := Diagnose(tl, []Hypothesis{h}, Options{})
	expect(t, d, map[string]string{"serial": "lead"})
	if d.Leads[0].Decide != "whether a call needs the answer to the one before" {
		t.Errorf("%+v", d.Leads[0])
	}
}

func TestWhereNeedsMore(t *testing.T) {
	remote := taking("slow-peer", timeline.CauseRemote)
	remote.Where = true
	waits := func(slow int) *timeline.Timeline {
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			us := 5000
			if i%10 == 9 {
				us = slow
			}
			return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 1000}, {timeline.PhaseRemote, timeline.CauseRemote, us}}
		})
		return tl
	}
	expect(t, Diagnose(waits(5000), []Hypothesis{remote}, Options{}), map[string]string{"slow-peer": "lead"})
	expect(t, Diagnose(waits(16_000), []Hypothesis{remote}, Options{}), map[string]string{"slow-peer": "lead"})
	expect(t, Diagnose(waits(17_000), []Hypothesis{remote}, Options{}), map[string]string{"slow-peer": "found"})
	expect(t, Diagnose(waits(5000), []Hypothesis{remote}, Options{SLOs: []SLO{{Percent: 99, Bound: 2 * milli}}}), map[string]string{"slow-peer": "found"})
}

// It takes 2 ms of requests of 100 ms, and half a millisecond of requests of 1 ms: there it is worth having, and the
// lead says so.
func TestALeadIsOfWhereItIsWorthHaving(t *testing.T) {
	tl := newTimeline()
	of := func(disk, cpu int) func(int) []piece {
		return func(int) []piece {
			return []piece{{timeline.PhaseHandler, timeline.CauseDisk, disk}, {timeline.PhaseHandler, timeline.CauseOnCPU, cpu}}
		}
	}
	every(tl, "GET /long", 100, of(2000, 98_000))
	every(tl, "GET /short", 100, of(500, 500))
	where := taking("disk", timeline.CauseDisk)
	where.Where = true
	d := Diagnose(tl, []Hypothesis{where}, Options{})
	if len(d.Leads) != 1 || d.Leads[0].Impact.Endpoint != "GET /short" {
		t.Errorf("leads %+v, want one of GET /short", d.Leads)
	}
}

// Two slow requests of a hundred determine p99, but may have been hit by anything; three are a tail.
func TestATailIsMoreThanTwoRequests(t *testing.T) {
	remote := taking("slow-peer", timeline.CauseRemote)
	remote.Where = true
	for want, slow := range map[string][]int{"lead": {20, 70}, "found": {20, 70, 90}} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			us := 5000
			if slices.Contains(slow, i) {
				us = 60_000
			}
			return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 1000}, {timeline.PhaseRemote, timeline.CauseRemote, us}}
		})
		expect(t, Diagnose(tl, []Hypothesis{remote}, Options{}), map[string]string{"slow-peer": want})
	}
}

func TestNoMillisecondIsCountedTwice(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 1000}, {timeline.PhaseHandler, timeline.CauseLock, 3000}, {timeline.PhaseRemote, timeline.CauseRemote, 2000}}
	})
	both := taking("both", timeline.CauseLock)
	both.Test = func(c *Case) Result {
		return Result{Candidates: []Candidate{{Spans: c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Cause != timeline.CauseOnCPU })}}}
	}
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock), both}, Options{})
	expect(t, d, map[string]string{"both": "found", "lock": "minor"})
	if d.Findings[0].Impact.P50 != 5*milli || d.Minor[0].ExplainedBy != "both" {
		t.Errorf("impact %d, explained by %q", d.Findings[0].Impact.P50, d.Minor[0].ExplainedBy)
	}
	d = Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock), taking("remote", timeline.CauseRemote)}, Options{})
	if len(d.Findings) != 2 || d.Findings[0].ID != "lock" || d.Findings[1].Impact.P50 != 2*milli {
		t.Errorf("findings %+v", d.Findings)
	}
}

func TestCauseComesBeforeItsConsequence(t *testing.T) {
	// The queue costs more than its cause alone, but three quarters of it go with the cause.
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{{timeline.PhaseUnread, timeline.CauseEventLoop, 30_000}, {timeline.PhaseUnread, timeline.CausePool, 10_000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
	})
	queue := taking("queue", timeline.CauseEventLoop)
	queue.Test = func(c *Case) Result {
		return Result{Candidates: []Candidate{{Spans: c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread })}}}
	}
	cause := taking("cause", timeline.CauseEventLoop)
	cause.Explains = []string{"queue"}
	d := Diagnose(tl, []Hypothesis{queue, cause}, Options{})
	if len(d.Findings) != 2 || d.Findings[0].ID != "cause" || d.Findings[1].ID != "queue" || d.Findings[1].Impact.P50 != 10*milli {
		t.Errorf("findings %+v", d.Findings)
	}
	// At one place the rest is no finding of its own.
	queue = but(queue, func(c *Case, cd *Candidate) { cd.Place = cause.Test(c).Candidates[0].Place })
	if d = Diagnose(tl, []Hypothesis{queue, cause}, Options{}); len(d.Findings) != 1 || d.Findings[0].ID != "cause" {
		t.Errorf("at one place: findings %+v", d.Findings)
	}
	cause.Explains = nil
	if d = Diagnose(tl, []Hypothesis{queue, cause}, Options{}); d.Findings[0].ID != "queue" {
		t.Errorf("without a known relation the larger comes first, not %s", d.Findings[0].ID)
	}
}

func TestEndpointsApart(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /slow", 40, func(int) []piece { return work(9000) })
	every(tl, "GET /fast", 400, func(int) []piece { return work(0) })
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{})
	if len(d.Findings) != 1 || d.Findings[0].Impact.Endpoint != "GET /slow" || d.Findings[0].Impact.P99 != 9*milli {
		t.Errorf("findings %+v", d.Findings)
	}
	d = Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{Endpoint: "GET /fast"})
	expect(t, d, map[string]string{"lock": "ruled out"})
	if len(d.Overall.Requests) != 400 {
		t.Errorf("%d requests", len(d.Overall.Requests))
	}
}

func TestCutAndExcludedRequestsAreNotMeasured(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(0) })
	tl.Requests[3].Cut = true
	tl.Requests[4].RequestBy = &timeline.RequestBy{Endpoint: "GET /", Excluded: "stream"}
	if d := Diagnose(tl, nil, Options{}); len(d.Overall.Requests) != 38 {
		t.Errorf("%d requests measured", len(d.Overall.Requests))
	}
}

func TestEvidencePointsAtRequests(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(i int) []piece { return work(2000 + i) })
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{})
	for _, e := range d.Findings[0].Evidence {
		if len(e.Requests) == 0 {
			t.Errorf("%q points at no request", e.What)
		}
		for _, id := range e.Requests {
			if int(id) >= len(tl.Requests) {
				t.Errorf("%q points at request %d, which does not exist", e.What, id)
			}
		}
	}
}

func TestQueueFollowsItsCause(t *testing.T) {
	// Of 40 ms in the queue the cause is known to explain 30: the other 10 are no finding.
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{{timeline.PhaseUnread, timeline.CauseEventLoop, 30_000}, {timeline.PhaseUnread, timeline.CausePool, 10_000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
	})
	queue := Hypothesis{ID: "queue", Queue: true, Test: func(c *Case) Result {
		return Result{Candidates: []Candidate{{Spans: c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread })}}}
	}}
	cause := taking("cause", timeline.CauseEventLoop)
	cause.Explains = []string{"queue"}
	d := Diagnose(tl, []Hypothesis{queue, cause}, Options{})
	expect(t, d, map[string]string{"cause": "found", "queue": "minor"})
	if o := d.Minor[0]; o.ExplainedBy != "cause" || o.Evidence[0].Value != int64(Whole)*3/4 {
		t.Errorf("%+v", o)
	}
}

// What programs beside the service cost is reported after what the service does, however much it is.
func TestWhatOthersCostIsSaidApart(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseRunnable, 9000}, {timeline.PhaseHandler, timeline.CauseLock, 3000}, {timeline.PhaseHandler, timeline.CauseDisk, 1000}}
	})
	beside := taking("beside", timeline.CauseRunnable)
	own := beside.Test
	beside.Test = func(c *Case) Result {
		res := own(c)
		res.Candidates[0].Others = true
		return res
	}
	d := Diagnose(tl, []Hypothesis{beside, taking("disk", timeline.CauseDisk), taking("lock", timeline.CauseLock)}, Options{})
	var order []string
	for _, f := range d.Findings {
		order = append(order, f.ID)
	}
	if want := []string{"lock", "disk", "beside"}; !slices.Equal(order, want) {
		t.Errorf("said in the order %v, want %v", order, want)
	}
}

func TestLossyRequestsSupportNothing(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(2000) })
	for i := range tl.Requests {
		tl.Requests[i].Lossy = true
	}
	tl.Losses = []timeline.Loss{{Hook: recording.HookIO, From: tl.Requests[0].Start, To: tl.End, Count: 1}}
	expect(t, Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{}), map[string]string{"lock": "undecided"})
}
