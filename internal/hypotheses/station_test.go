package hypotheses

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A server may be held for other things than computing, as a connection is while its peer works. Then the report does
// not say that it is busy with the functions sampled meanwhile.
func TestPiecesAreOfServersThatCompute(t *testing.T) {
	c := caseOf(t, done(rebuilding(1), 20))
	s := *stationAt(c, kindLock, func(*station) bool { return true })
	for _, x := range []struct {
		busy, ran Duration
		pieces    int
	}{{0, 0, 1}, {10, 6, 1}, {10, 4, 0}} { // a lock's holders show neither
		if s.busy, s.ran = x.busy, x.ran; len(s.pieces(c).list) != x.pieces {
			t.Errorf("busy for %d, computing for %d: %d functions, want %d", x.busy, x.ran, len(s.pieces(c).list), x.pieces)
		}
	}
}

// CPython's threads wake every 5 ms to ask for the interpreter again. If processors are busy, they wait for one to do
// so, and have no turn of the interpreter meanwhile: it is no busier than if they need not wait.
func TestWhoAsksAgainWaits(t *testing.T) {
	busy := func(late recording.Time) queueing.Ratio {
		p := &interpreter{scenario: newScenario(recording.RuntimePython), slice: 5000 * us, path: gil, late: late}
		c := caseOf(t, done(p.serve(9300*us, 1, [2]string{handling, recalc}).scenario, 97))
		m := stationAt(c, kindInterpreter, func(*station) bool { return true }).measures(c)
		return m.Utilisation
	}
	if at, late := busy(0), busy(3000*us); at == 0 || late > at {
		t.Errorf("busy for %d thousandths of the time, for %d if they ask late", at, late)
	}
}

// If there are few requests, all are replayed at the processors; if there are many, equally many in each sixteenth.
func TestStretchesOfManyRequests(t *testing.T) {
	if got := stretches(mostReplayed); len(got) != 1 || got[0] != (stretch{0, mostReplayed}) {
		t.Errorf("of %d requests %v are replayed, want all", mostReplayed, got)
	}
	for _, n := range []int{mostReplayed + 1, 1_000_003} {
		got, all := stretches(n), 0
		for k, x := range got {
			part := n / stretchCount
			if int(x.from) < k*part || int(x.to) > (k+1)*part {
				t.Errorf("of %d requests: %v is not in part %d of %d", n, x, k, stretchCount)
			}
			all += int(x.to - x.from)
		}
		if len(got) != stretchCount || all != mostReplayed {
			t.Errorf("of %d requests: %d in %d stretches", n, all, len(got))
		}
	}
}

// Threads of Python lose the processor to another program amid each turn at the interpreter, and keep the others
// waiting. If requests compute little, that queue is caused by the other program. If they compute for half of the time,
// and one in eight for long, they would wait for each other without it, too.
func TestAnInterpretersQueueIsNotItsNeighbours(t *testing.T) {
	at := func(mean, robs recording.Time, work float64) *recording.Recording {
		p := &interpreter{scenario: newScenario(recording.RuntimePython), slice: 5000 * us, path: gil, robs: robs}
		return done(competing(p.serve(mean, work, [2]string{handling, recalc}).scenario, "backup", 60), 97)
	}
	for _, x := range []struct {
		name  string
		rec   *recording.Recording
		found bool
	}{{"2 ms every 10 ms", at(10_000*us, 5000*us, 0.05), false}, {"7 ms every 14 ms", at(14_000*us, 2000*us, 1), true}} {
		d := diagnosis.Diagnose(caseOf(t, x.rec).Timeline, []diagnosis.Hypothesis{interpreterLock(), runQueue()}, diagnosis.Options{})
		if found := slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.ID == "interpreter-lock" }); found != x.found {
			t.Errorf("%s: the interpreter's lock is found: %v, want %v", x.name, found, x.found)
		}
	}
}

// Beside other programs an interpreter is replayed as if it had a processor. If nothing is changed in the replay,
// requests take as long as they did; with half of the work they take no longer.
func TestAnInterpreterBesideNeighboursIsReplayedAgainstItself(t *testing.T) {
	p := &interpreter{scenario: newScenario(recording.RuntimePython), slice: 5000 * us, path: gil, late: 1000 * us}
	c := caseOf(t, done(competing(p.serve(9300*us, 1, [2]string{handling, recalc}).scenario, "backup", 60), 97))
	k := contentions(c, timeline.CauseInterpreterLock)[0]
	s := stationAt(c, kindInterpreter, func(*station) bool { return true })
	alone := interpreterOf(c, k)
	if alone == s {
		t.Fatal("it is replayed as it is")
	}
	if same := alone.whatIf(plan{}).Mean; same.Is != same.Was {
		t.Errorf("with nothing changed %s become %s", diagnosis.Human(same.Was), diagnosis.Human(same.Is))
	}
	if half := alone.whatIf(plan{Change: queueing.Change{Less: queueing.One / 2}}).Mean; half.Is >= half.Was {
		t.Errorf("with half of its work %s become %s", diagnosis.Human(half.Was), diagnosis.Human(half.Is))
	}
}
