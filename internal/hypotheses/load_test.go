package hypotheses

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// Requests that come together wait while others of them compute on both processors. A request that waits for a
// processor which another program has does not wait for other requests.
func TestWaitsForOtherRequestsWorkAreLoad(t *testing.T) {
	for want, rec := range map[int]*recording.Recording{
		1: done(crowding(6, -80_000*us, 0), 68),
		0: done(starved(), 50),
	} {
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			s := serverOf(c)
			if got := forEachOthersWork(c, &s, nil); len(got) != want {
				t.Errorf("%d candidates, want %d", len(got), want)
			}
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
	}
}

// Requests of 9 ms come two or six at a time for each processor. Of two one waits 9 ms, and half of the work saves more
// by itself than by waits. Of six they wait longer than they compute.
func TestTheWorkOrItsQueueIsTheFirstLead(t *testing.T) {
	for share, want := range map[int]string{2: "cpu-bound", 6: "load"} {
		d := diagnosed(t, crowding(share, -80_000*us, 0))
		if d.Leads[0].ID != want {
			t.Errorf("%d at a time: %s is first, want %s", share, d.Leads[0].ID, want)
		}
	}
}

// A request of 0.8 ms of own CPU comes every 1.2 ms: others wait for the loop while it computes that. If one comes
// every 12 ms, no other waits.
func TestWaitsForALoopThatComputesAreSaidBesideThat(t *testing.T) {
	for every, want := range map[recording.Time]bool{1200 * us: true, 12_000 * us: false} {
		d := diagnosed(t, loopOf(true, 60, every, cost{before: 600 * us, after: 150 * us, remote: 600 * us}))
		said := slices.ContainsFunc(d.Leads, func(f diagnosis.Finding) bool {
			return f.ID == "cpu-bound" && strings.Contains(f.Title, "waiting for the event loop while it computes for other requests")
		})
		if said != want {
			t.Errorf("every %d us: said %t, want %t", every/us, said, want)
		}
	}
}

// One thread serves a request after the other while twelve come at once: they wait for that thread. If it carries
// virtual threads, and one that waits is pinned to it, more threads are not what is missing.
func TestPinnedCarriersAreNoLoad(t *testing.T) {
	const called = "com.example.Shop.fetch < com.example.Shop.handle < java.lang.VirtualThread.run"
	for path, want := range map[string]bool{called: true, "java.lang.VirtualThread.parkOnCarrierThread < " + called: false} {
		tl, err := build.Recording(done(crowdsBehind(recording.RuntimeJVM, func(t *thread) { t.callIn(5000*us, path) }), 20))
		if err != nil {
			t.Fatal(err)
		}
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			c.Saturated = diagnosis.Whole / 4 // at times it has no request
			if s := serverOf(c); s.workers != want {
				t.Errorf("%s: waits for workers %t, want %t (busy %s)", path, s.workers, want, diagnosis.Percent(s.busy))
			}
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
	}
}

// Requests need 97 % of the processors at the rate at which they come. When requests came that were unread since before
// the recording is not known: they are no crowd that came as it began.
func TestWhatWaitedBeforeTheRecordingCameAtNoRate(t *testing.T) {
	for unread, want := range map[int]bool{0: true, 40: true, 1000: false} {
		tl, err := build.Recording(done(competing(crowding(6, 7000*us, 6000*us), "backup", 39), 99))
		if err != nil {
			t.Fatal(err)
		}
		for i := range min(unread, len(tl.Requests)) {
			tl.Requests[i].Queued, tl.Requests[i].Start = true, tl.Start
		}
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			in, n := arriving(c)
			if got := needed(c); got >= c.Saturated != want || n > 0 && in/recording.Duration(n) > 4000_000 {
				t.Errorf("%d unread before: need %s of the processors, %d come in %d ms", unread, diagnosis.Percent(got), n, in/1_000_000)
			}
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
	}
}
