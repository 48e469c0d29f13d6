package hypotheses

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Five calls have one shape, and the last takes 9 ms: one call in place of them takes as long as that one. Calls made
// at once would not save what is left of them.
func TestTheLongestCallStaysItself(t *testing.T) {
	d := diagnosed(t, serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
		for _, ms := range []recording.Time{3, 3, 3, 3, 9} {
			keptCall(t, ms*1000*us)
		}
	}))
	if len(d.Findings) != 1 || d.Findings[0].ID != "n-plus-one" || d.Findings[0].Impact.P50/1_000_000 != 12 {
		t.Errorf("found %+v, want n-plus-one that saves 12 ms", d.Findings)
	}
	if i := slices.IndexFunc(d.Undecided, func(o diagnosis.Outcome) bool { return o.ID == "serial-calls" }); i >= 0 {
		t.Errorf("serial-calls is undecided: %s", d.Undecided[i].Missing)
	}
}

// Four calls whose paths have no fixed part may be of four kinds, as /a/1 and /b/1 are. If their number follows the
// data, they are not.
func TestCallsWithoutANameMustVary(t *testing.T) {
	for _, c := range []struct {
		route  string
		varies int
		found  bool
	}{{"/items/{}", 0, true}, {"/{}/{}", 0, false}, {"/{}", 0, false}, {"/", 0, true}, {"/{}/{}", 6, true}} {
		d := diagnosed(t, serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
			if t.kept == nil {
				t.kept = t.dial(200 * us)
			}
			n := 4
			if c.varies > 0 && i%5 == 0 {
				n += c.varies
			}
			for range n {
				t.call(t.kept, 3000*us, c.route)
			}
		}))
		if found := slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.ID == "n-plus-one" }); found != c.found {
			t.Errorf("4 to %d calls of %s: found %v, want %v", 4+c.varies, c.route, found, c.found)
		}
	}
}

// Whether four to six calls of which nothing is known have one shape is not known either: slow requests hardly make
// more of them than others, which does not decide it.
func TestCallsThatVaryMayBeOfOneShape(t *testing.T) {
	for _, c := range []struct {
		beside recording.Time // own work
		want   bool
	}{{0, true}, {200_000 * us, false}} {
		d := diagnosed(t, serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
			if t.kept == nil {
				t.kept = t.dial(200 * us)
			}
			t.compute(c.beside)
			for range 4 + i%3 {
				t.call(t.kept, 3000*us, "/{}/{}")
			}
		}))
		if undecided := slices.ContainsFunc(d.Undecided, func(o diagnosis.Outcome) bool { return o.ID == "n-plus-one" }); undecided != c.want {
			t.Errorf("beside %d ns of own work: undecided %v, want %v", c.beside, undecided, c.want)
		}
	}
}

// A request reads three items, and twice executes a statement that was prepared before the recording: those may be
// reads of items, too.
func TestStatementsPreparedBeforeMayBeOfTheShape(t *testing.T) {
	tl := &timeline.Timeline{Processes: []timeline.Process{{ID: 1}}, Strands: []timeline.Strand{{Process: 1}}}
	r := timeline.Request{Start: 1, FirstRead: 1, End: 100, Process: 1, RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}}
	for i, operation := range []string{"SELECT items", "", "SELECT items", "SELECT", "SELECT items"} {
		at := timeline.Time(1 + 10*i)
		r.Calls = append(r.Calls, timeline.CallID(i))
		tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), Peer: "db", Operation: operation, Protocol: recording.ProtocolPostgres, Process: 1, Start: at, End: at + 9})
	}
	tl.Requests = []timeline.Request{r}
	c := diagnosis.NewCase(tl, diagnosis.Options{})
	rep := &repeats{shape: shapeOf(&tl.Calls[0]), by: []repeat{{0, 3}}}
	got := batchAt(c, rep, []diagnosis.RequestID{0})
	if want := "; the operation of another 2.0 calls to it is not known (such as of statements prepared before the recording)"; !strings.HasSuffix(got.Title, want) || !got.AtLeast {
		t.Errorf("%q, at least: %t; want %q", got.Title, got.AtLeast, want)
	}
}

// Four SELECTs of which no more is known, as they were prepared before the recording, may be four statements; of one table, they
// are alike. A DELETE of Redis has no table.
func TestStatementsPreparedBeforeNeedNotBeAlike(t *testing.T) {
	for operation, vague := range map[string]bool{"SELECT": true, "SELECT items": false, "DEL": false, "GET": false, "GET /{}": true, "": true} {
		if got := (&repeats{shape: shape{"db", operation}}).vague(); got != vague {
			t.Errorf("calls of %q may be unlike: %v, want %v", operation, got, vague)
		}
	}
}

// Other threads make the calls of a request if they work for it while the calls last. A goroutine that only sends them,
// as that of a pooled connection of Go does, makes none.
func TestWhoSendsACallDoesNotMakeIt(t *testing.T) {
	for _, x := range []struct{ works, tasks int }{{10, 2}, {1, 0}} {
		c := &diagnosis.Case{Timeline: &timeline.Timeline{}}
		r := &timeline.Request{RequestMore: &timeline.RequestMore{}}
		for i := range 2 {
			from := diagnosis.Time(20 * i)
			c.Calls = append(c.Calls, timeline.Call{ID: timeline.CallID(i), Strand: 3, Start: from, End: from + 10})
			r.Calls = append(r.Calls, timeline.CallID(i))
			r.Parts = append(r.Parts, timeline.Part{Strand: 3, From: from, To: from + diagnosis.Time(x.works)})
		}
		if _, _, _, tasks := tasksOf(c, r, shape{}); tasks != x.tasks {
			t.Errorf("works for %d of 10: %d tasks, want %d", x.works, tasks, x.tasks)
		}
	}
}
