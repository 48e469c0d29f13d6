package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

func where(id string, cause timeline.Cause) Hypothesis {
	h := taking(id, cause)
	h.Where = true
	return h
}

// A peer takes 8 of 10 ms, mostly alike in each request; slow requests compute for longer. If slow requests take twice
// as long, that must be looked at, and is the first lead.
func TestWhatMakesSlowRequestsSlowIsTheFirstLead(t *testing.T) {
	hyps := []Hypothesis{where("peer", timeline.CauseRemote), where("cpu", timeline.CauseOnCPU)}
	for slow, want := range map[int]string{4000: "peer", 14_000: "cpu"} { // of 12 and of 22 ms
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			own := 2000
			if i%10 == 0 {
				own = slow
			}
			return []piece{{timeline.PhaseRemote, timeline.CauseRemote, 8000}, {timeline.PhaseHandler, timeline.CauseOnCPU, own}}
		})
		d := Diagnose(tl, hyps, Options{})
		expect(t, d, map[string]string{"peer": "lead", "cpu": "lead"})
		if d.Leads[0].ID != want {
			t.Errorf("slow requests compute %d us: the first lead is %s, want %s", slow, d.Leads[0].ID, want)
		}
		for _, m := range d.Dominant {
			if m.Steady == (m.ID == "cpu") {
				t.Errorf("slow requests compute %d us: %+v", slow, m)
			}
		}
	}
}

// Each endpoint has a lock of its own that takes most of its time. The lock of the endpoint whose requests take most
// time in all comes first, though its share there is smaller.
func TestWhatMostTimeIsOfComesFirst(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /often", 200, func(int) []piece { return work(6000) })
	every(tl, "GET /seldom", 40, func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 1000}, {timeline.PhaseHandler, timeline.CausePool, 9000}}
	})
	hyps := []Hypothesis{taking("pool", timeline.CausePool), taking("lock", timeline.CauseLock)}
	d := Diagnose(tl, hyps, Options{})
	if len(d.Dominant) != 2 || d.Dominant[0].ID != "lock" {
		t.Errorf("%+v", d.Dominant)
	}
}

// Requests compute 2 ms, and one in ten waits 8 ms for the computing of others. The wait is what makes it slow. But if
// the wait follows from what the requests compute, that is the first lead, with the waits behind it.
func TestWhatFollowsFromALeadIsToldAfterIt(t *testing.T) {
	for after, want := range map[string]string{"": "turn", "cpu": "cpu"} {
		turn := but(taking("turn", timeline.CauseInterpreterLock), func(_ *Case, cd *Candidate) { cd.Decide = "look" })
		test := turn.Test
		turn.Test = func(c *Case) Result {
			res := test(c)
			res.After = after
			return res
		}
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 2000}}
			if i%10 == 0 {
				p = append(p, piece{timeline.PhaseHandler, timeline.CauseInterpreterLock, 8000})
			}
			return p
		})
		d := Diagnose(tl, []Hypothesis{turn, where("cpu", timeline.CauseOnCPU)}, Options{WhereRatio: 9})
		expect(t, d, map[string]string{"turn": "lead", "cpu": "lead"})
		if d.Leads[0].ID != want || d.Dominant[0].ID != want || want == "cpu" && len(d.Dominant) != 1 {
			t.Errorf("after %q: first %s, want %s; %+v", after, d.Leads[0].ID, want, d.Dominant)
		}
	}
}

// Requests wait for a lock while its holder sleeps: the lock need not be looked at beside that.
func TestWhatGoesWithAFindingIsNotNamedBesideIt(t *testing.T) {
	sleep := taking("sleep", timeline.CauseLock)
	sleep.Explains = []string{"lock"}
	lock := taking("lock", timeline.CauseLock)
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece { return work(8000) })
	d := Diagnose(tl, []Hypothesis{sleep, lock}, Options{})
	expect(t, d, map[string]string{"sleep": "found", "lock": "minor"})
	if len(d.Dominant) != 1 || d.Dominant[0].ID != "sleep" {
		t.Errorf("%+v", d.Dominant)
	}
}

// One request in ten computes 7 ms more and waits 9 ms longer for an unknown reason. The 8 ms that a peer takes of each
// request may be their purpose, and come after the computing.
func TestWhatIsBeyondTheUsualComesBeforeWhatIsAlike(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 100, func(i int) []piece {
		p := []piece{{timeline.PhaseRemote, timeline.CauseRemote, 8000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
		if i%10 == 0 {
			p = append(p, piece{timeline.PhaseHandler, timeline.CauseOnCPU, 7000}, piece{timeline.PhaseHandler, timeline.CauseSleep, 9000})
		}
		return p
	})
	peer := but(where("peer", timeline.CauseRemote), func(_ *Case, cd *Candidate) { cd.Peer = true })
	d := Diagnose(tl, []Hypothesis{peer, working()}, Options{})
	expect(t, d, map[string]string{"peer": "lead", "cpu": "lead"})
	if first, next := &d.Leads[0], &d.Leads[1]; first.ID != "cpu" || first.Impact.Mean >= next.Impact.Mean {
		t.Errorf("first %s, which saves %d; the next one %d", first.ID, first.Impact.Mean, next.Impact.Mean)
	}
}

// For half of their excess, slow requests are ready to run because of programs beside the service. Their wait for a
// disk, a third or a tenth of the excess, decides which comes first; if that is small, what all requests wait for the
// disk decides.
func TestWhatOthersCostIsALeadAfterWhatThisServiceDoes(t *testing.T) {
	ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Others, cd.Decide = true, "look" })
	for _, c := range []struct {
		disk, slow int // microseconds of each request, and how many more of a slow one
		first      string
	}{{400, 8000, "disk"}, {400, 2000, "ready"}, {1000, 2000, "disk"}} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 8000}, {timeline.PhaseHandler, timeline.CauseDisk, c.disk}}
			if i%10 == 0 {
				p = append(p, piece{timeline.PhaseHandler, timeline.CauseRunnable, 14_000}, piece{timeline.PhaseHandler, timeline.CauseDisk, c.slow})
			}
			return p
		})
		d := Diagnose(tl, []Hypothesis{ready, where("disk", timeline.CauseDisk)}, Options{WhereRatio: 9})
		expect(t, d, map[string]string{"ready": "lead", "disk": "lead"})
		if d.Leads[0].ID != c.first || !d.Dominant[0].Others {
			t.Errorf("%d us of disk, %d more if slow: first %s, want %s; %+v", c.disk, c.slow, d.Leads[0].ID, c.first, d.Dominant)
		}
	}
}

// Programs beside the service cost 1.4 ms of the mean, and all of the excess of slow requests. Each request computes
// for 4 ms, of which half may be saved: that is more, and comes first. With 2 ms it is less.
func TestWhatIsComputedComesFirstIfHalfOfItIsMoreThanWhatOthersCost(t *testing.T) {
	ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Others, cd.Decide = true, "look" })
	for us, want := range map[int]string{4000: "cpu", 2000: "ready"} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, us}, {timeline.PhaseHandler, timeline.CauseIPC, 8000}}
			if i%10 == 0 {
				p = append(p, piece{timeline.PhaseHandler, timeline.CauseRunnable, 14_000})
			}
			return p
		})
		d := Diagnose(tl, []Hypothesis{ready, working()}, Options{WhereRatio: 9})
		expect(t, d, map[string]string{"ready": "lead", "cpu": "lead"})
		if d.Leads[0].ID != want || !d.Dominant[0].Others {
			t.Errorf("%d us are computed: first %s, want %s; %+v", us, d.Leads[0].ID, want, d.Dominant)
		}
	}
}

// One request in ten waits 20 ms for programs beside the service, and another one 8 ms for a disk. The slow requests do
// not wait for the disk, yet it comes first. With 4 ms it does not.
func TestWhatThisServiceDoesIsSeenBesideWhatOthersCost(t *testing.T) {
	ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Others, cd.Decide = true, "look" })
	for disk, want := range map[int]string{8000: "disk", 4000: "ready"} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(i int) []piece {
			p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 2000}, {timeline.PhaseHandler, timeline.CauseDisk, 400}}
			switch i % 10 {
			case 0:
				p = append(p, piece{timeline.PhaseHandler, timeline.CauseRunnable, 20_000})
			case 5:
				p = append(p, piece{timeline.PhaseHandler, timeline.CauseDisk, disk})
			}
			return p
		})
		d := Diagnose(tl, []Hypothesis{ready, where("disk", timeline.CauseDisk)}, Options{WhereRatio: 9})
		expect(t, d, map[string]string{"ready": "lead", "disk": "lead"})
		if d.Leads[0].ID != want {
			t.Errorf("%d us of disk: first %s, want %s", disk, d.Leads[0].ID, want)
		}
	}
}

// Requests compute for 9 of 20 ms, all alike; in one of ten something takes 30 ms more. Concurrent calls would save 1
// ms. What is worth nine times that comes first, whether or not it is the usual amount.
func TestWhatIsLargeAsARuleComesBeforeWhatIsSmall(t *testing.T) {
	serial := but(taking("serial", timeline.CauseRemote), func(_ *Case, cd *Candidate) { cd.Decide = "look" })
	tl := newTimeline()
	every(tl, "GET /", 100, func(i int) []piece {
		p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 9000}, {timeline.PhaseRemote, timeline.CauseRemote, 1000}, {timeline.PhaseHandler, timeline.CauseIPC, 10_000}}
		if i%10 == 0 {
			p = append(p, piece{timeline.PhaseHandler, timeline.CauseSleep, 30_000})
		}
		return p
	})
	d := Diagnose(tl, []Hypothesis{serial, where("cpu", timeline.CauseOnCPU)}, Options{})
	expect(t, d, map[string]string{"serial": "lead", "cpu": "lead"})
	if d.Leads[0].ID != "cpu" {
		t.Errorf("first %s", d.Leads[0].ID)
	}
}

// working returns a hypothesis that requests compute.
func working() Hypothesis {
	h := where("cpu", timeline.CauseOnCPU)
	h.Work = true
	return h
}

// A peer takes 12 of 20 ms, alike in each request, as its own log says. What the service itself does for 6 ms comes
// before it, what it does for 2 ms does not. But a 2 ms wait for a disk does, because no request needs it.
func TestWhatAPeerTakesAsARuleComesAfterWhatThisServiceDoes(t *testing.T) {
	peer := but(where("peer", timeline.CauseRemote), func(_ *Case, cd *Candidate) { cd.Peer = true })
	for _, x := range []struct {
		own  Hypothesis
		does timeline.Cause
		us   int
		want string
	}{{working(), timeline.CauseOnCPU, 6000, "cpu"}, {working(), timeline.CauseOnCPU, 2000, "peer"}, {where("disk", timeline.CauseDisk), timeline.CauseDisk, 2000, "disk"}} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(int) []piece {
			return []piece{{timeline.PhaseRemote, timeline.CauseRemote, 12_000}, {timeline.PhaseHandler, x.does, x.us}}
		})
		d := Diagnose(tl, []Hypothesis{peer, x.own}, Options{})
		expect(t, d, map[string]string{"peer": "lead", x.own.ID: "lead"})
		if d.Leads[0].ID != x.want {
			t.Errorf("%d us of its own: first %s, want %s", x.us, d.Leads[0].ID, x.want)
		}
	}
}

// Requests compute, and wait for processors that do nothing else: both are named together.
func TestWhatGoesWithALeadIsNamedWithIt(t *testing.T) {
	ready := where("ready", timeline.CauseRunnable)
	own := but(where("cpu", timeline.CauseOnCPU), func(c *Case, cd *Candidate) { cd.Seen = append(cd.Spans, ready.Test(c).Candidates[0].Spans...) })
	own.Explains = []string{"ready"}
	tl := newTimeline()
	every(tl, "GET /", 100, func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000}, {timeline.PhaseHandler, timeline.CauseRunnable, 8000}}
	})
	d := Diagnose(tl, []Hypothesis{own, ready}, Options{})
	expect(t, d, map[string]string{"cpu": "lead", "ready": "minor"})
	if len(d.Dominant) != 1 || d.Dominant[0].ID != "cpu" || d.Dominant[0].Mean != Whole || len(d.Dominant[0].With) != 1 {
		t.Errorf("%+v", d.Dominant)
	}
}

// Requests wait 8 of 12 ms for a lock, behind holders that are ready to run for 6 of them. Each may explain the other,
// through a third one. Both are leads, and the lock, which takes most, is named. But if programs beside the service
// delay the holders, the lock goes with those.
func TestALeadThatDominatesIsNamedBehindAnotherToo(t *testing.T) {
	for beside, want := range map[bool]string{false: "lead", true: "minor"} {
		d := Diagnose(heldByReady(), lockBehindReady(beside), Options{})
		expect(t, d, map[string]string{"lock": want, "ready": "lead", "load": "ruled out"})
		if first := map[bool]string{false: "lock", true: "ready"}[beside]; len(d.Dominant) == 0 || d.Dominant[0].ID != first {
			t.Errorf("beside %t: %+v", beside, d.Dominant)
		}
	}
}

func heldByReady() *timeline.Timeline {
	tl := newTimeline()
	every(tl, "GET /", 100, func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseLock, 8000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 4000}}
	})
	return tl
}

func lockBehindReady(beside bool) []Hypothesis {
	lock := but(taking("lock", timeline.CauseLock), func(_ *Case, cd *Candidate) { cd.Decide = "look" })
	lock.Explains = []string{"load"}
	load := taking("load", timeline.CauseSleep)
	load.Explains = []string{"ready"}
	ready := but(where("ready", timeline.CauseLock), func(_ *Case, cd *Candidate) {
		for i := range cd.Spans {
			cd.Spans[i].To = cd.Spans[i].From + Time(6*milli)
		}
		cd.Decide, cd.Others = "look", beside
	})
	ready.Explains = []string{"lock"}
	return []Hypothesis{ready, lock, load}
}

// Requests wait to run, possibly for each other. If they wait for programs beside the service, that is reported, and
// the service's load goes with it.
func TestWhatOthersCostDoesNotFollowFromTheServicesLoad(t *testing.T) {
	for beside, want := range map[bool]map[string]string{
		true:  {"ready": "lead", "load": "minor"},
		false: {"ready": "minor", "load": "lead"},
	} {
		tl := newTimeline()
		every(tl, "GET /", 100, func(int) []piece {
			return []piece{{timeline.PhaseHandler, timeline.CauseRunnable, 8000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 4000}}
		})
		load := but(taking("load", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Decide = "look" })
		load.Explains = []string{"ready"}
		ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Decide, cd.Others = "look", beside })
		ready.Explains = []string{"load"}
		expect(t, Diagnose(tl, []Hypothesis{ready, load}, Options{}), want)
	}
}

// Of the 40 ms for which requests are ready to run, a cause in the service has 30. What programs beside it cost is
// still a lead; if none of it is theirs, it goes with the cause.
func TestWhatOthersCostIsSaidBesideACauseThatHasMostOfIt(t *testing.T) {
	for beside, want := range map[bool]string{true: "lead", false: "minor"} {
		tl := newTimeline()
		every(tl, "GET /", 40, func(int) []piece {
			return []piece{{timeline.PhaseUnread, timeline.CauseRunnable, 30_000}, {timeline.PhaseHandler, timeline.CauseRunnable, 10_000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
		})
		ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Proven, cd.Others = true, beside })
		scan := but(taking("scan", timeline.CauseRunnable), func(c *Case, cd *Candidate) {
			cd.Spans = c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread })
		})
		scan.Explains = []string{"ready"}
		expect(t, Diagnose(tl, []Hypothesis{ready, scan}, Options{}), map[string]string{"scan": "found", "ready": want})
	}
}

// Requests compute for 2 ms; one in twenty also waits 3 ms each for a processor, a peer and a lock. Chance decides
// which requests the first of these hits: its 0.15 ms of the mean come after the computing, though it is more of a slow
// request.
func TestWhoWaitsForAProcessorIsChance(t *testing.T) {
	ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Decide = "see" })
	for queue, want := range map[bool]string{true: "cpu", false: "ready"} {
		ready.Queue = queue
		tl := newTimeline()
		every(tl, "GET /", 400, func(i int) []piece {
			list := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 2000}}
			if i%20 == 0 {
				for _, cause := range []timeline.Cause{timeline.CauseRunnable, timeline.CauseRemote, timeline.CauseLock} {
					list = append(list, piece{timeline.PhaseHandler, cause, 3000})
				}
			}
			return list
		})
		if d := Diagnose(tl, []Hypothesis{working(), ready}, Options{}); len(d.Leads) != 2 || d.Leads[0].ID != want {
			t.Errorf("queue %v: the leads are %+v, want %s first", queue, d.Leads, want)
		}
	}
}

// One request in ten waits 3 ms for a processor: this alone makes requests slow. If each request computes 2 ms, the
// half that may be saved is more of the mean, and comes first; if each computes 0.4 ms, it is not.
func TestWhatIsComputedComesBeforeAWaitByChance(t *testing.T) {
	for computes, want := range map[int]string{2000: "cpu ready", 400: "ready cpu"} {
		tl := newTimeline()
		every(tl, "GET /", 400, func(i int) []piece {
			list := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, computes}}
			if i%10 == 0 {
				list = append(list, piece{timeline.PhaseHandler, timeline.CauseRunnable, 3000})
			}
			return list
		})
		ready := but(where("ready", timeline.CauseRunnable), func(_ *Case, cd *Candidate) { cd.Decide = "see" })
		ready.Queue = true
		d := Diagnose(tl, []Hypothesis{working(), ready}, Options{})
		if got := d.Leads[0].ID + " " + d.Leads[1].ID; got != want || d.Dominant[0].ID != "ready" && d.Dominant[1].ID != "ready" {
			t.Errorf("of %d us: %s, want %s; dominant %+v", computes, got, want, d.Dominant)
		}
	}
}
