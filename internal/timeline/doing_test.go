package timeline

import "testing"

// A call waits for a connection, is sent, and waits for its answer, which is read at once.
func TestPhaseAt(t *testing.T) {
	c := Call{Start: 1000, SendFrom: 1030, Sent: 1032, Arrived: 1050, FirstRead: 1050, End: 1051}
	c.Phases[PhaseQueue], c.Phases[PhaseSend], c.Phases[PhaseRemote], c.Phases[PhaseReceive] = 30, 2, 18, 1
	for _, x := range []struct {
		at, until Time
		phase     Phase
	}{{1000, 1030, PhaseQueue}, {1029, 1030, PhaseQueue}, {1030, 1032, PhaseSend}, {1032, 1050, PhaseRemote}, {1050, 1051, PhaseReceive}} {
		if phase, until := c.phaseAt(x.at); phase != x.phase || until != x.until {
			t.Errorf("at %d: %v until %d, want %v until %d", x.at, phase, until, x.phase, x.until)
		}
	}
}

// While a call is open that others carry for a strand, the strand's wait for another thread is a wait for the answer.
func TestWaitsForCarriedAnswers(t *testing.T) {
	for _, c := range []struct {
		carried bool
		cause   Cause
		want    []Cause
	}{
		{true, CauseCondition, []Cause{CauseCondition, CauseRemote, CauseCondition}},
		{false, CauseCondition, []Cause{CauseCondition}},
		{true, CauseLock, []Cause{CauseLock}},
	} {
		tl := &Timeline{
			Start: 0, End: 200, Strands: make([]Strand, 1), callsOn: [][]CallID{{0}},
			Calls: []Call{{Strand: 0, Carried: c.carried, Start: 30, SendFrom: 30, FirstRead: 70, End: 70, Request: 0}},
		}
		var got []Cause
		for _, a := range tl.forAnswers(0, Activity{From: 10, To: 100, Cause: c.cause, Call: None}, true, nil) {
			if len(got) == 0 || got[len(got)-1] != a.Cause {
				got = append(got, a.Cause)
			}
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)/2] != c.want[len(got)/2] {
			t.Errorf("carried %v, a wait for %v: %v, want %v", c.carried, c.cause, got, c.want)
		}
	}
}
