package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A server runs the same code in three processes. What each request does is found as in one process, whichever serves
// it.
func TestProcessesOfOneServerCountTogether(t *testing.T) {
	for _, c := range []struct {
		finding  string
		p50, p99 diagnosis.Duration // ms that it saves
		each     func(w *thread, i int)
	}{
		{"n-plus-one", 9, 9, func(w *thread, _ int) {
			for range 4 {
				keptCall(w, 3000*us)
			}
		}},
		{"slow-peer", 0, 39, func(w *thread, i int) {
			remote := 600 * us
			if i%5 == 4 {
				remote = 40_000 * us
			}
			keptCall(w, remote)
		}},
		// The first connection of each process is needed, and p99 is such a request.
		{"connection-churn", 3, 0, func(w *thread, _ int) {
			o := w.dial(3000 * us)
			w.call(o, 600*us, "/items/{}")
			w.hangUp(o, recording.ClosedByUs)
		}},
		{"client-per-request", 3, 0, func(w *thread, _ int) {
			o := w.dial(3000 * us)
			w.call(o, 600*us, "/items/{}")
			w.call(o, 600*us, "/items/{}")
			w.hangUp(o, recording.ClosedByUs)
		}},
	} {
		t.Run(c.finding, func(t *testing.T) {
			s := newScenario(recording.RuntimePython)
			for id := range recording.ThreadID(3) {
				w := s.worker(id+1, 1000*us)
				for i := range requestsPlayed {
					w.request(recording.Time(i+1)*50_000*us+recording.Time(id)*15_000*us, 10*us, "/prices/{}")
					c.each(w, i)
					w.respond()
				}
			}
			tl, err := build.Recording(inProcess(inProcess(done(s, 30), 2), 3))
			if err != nil {
				t.Fatal(err)
			}
			d := diagnosis.Diagnose(tl, All(), diagnosis.Options{})
			if len(d.Findings) != 1 || d.Findings[0].ID != c.finding {
				t.Fatalf("found %+v", d.Findings)
			}
			if got := d.Findings[0].Impact; got.P50/1_000_000 != c.p50 || got.P99/1_000_000 != c.p99 {
				t.Errorf("it saves %d of p50 and %d of p99, in ns", got.P50, got.P99)
			}
		})
	}
}

// inProcess moves a thread and its connections to a process of its own, with the same number.
func inProcess(rec *recording.Recording, id recording.ThreadID) *recording.Recording {
	process := &recording.Process{ID: recording.ProcessID(id), PID: 100 * int64(id), Comm: "shop", Exe: "shop", Runtime: recording.RuntimePython}
	rec.Events = append([]recording.Event{rec.Events[0], {Time: us, Fact: process}}, rec.Events[1:]...)
	its := map[recording.ConnID]bool{}
	for _, e := range rec.Events {
		if f, ok := e.Fact.(*recording.Chunk); ok && f.Thread == id {
			its[f.Conn] = true
		}
	}
	for _, e := range rec.Events {
		switch f := e.Fact.(type) {
		case *recording.Thread:
			if f.ID == id {
				f.Process = process.ID
			}
		case *recording.Conn:
			if its[f.ID] {
				f.Process = process.ID
			}
		}
	}
	return rec
}
