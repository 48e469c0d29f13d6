package timeline

import "testing"

// A call waits for a connection, is sent, waits for its answer, which is read at once.
func TestPhaseAt(t *testing.T) {
	c := Call{Start: 1000, SendFrom: 1030, Sent: 1032, Arrived: 1050, FirstRead: 1050, End: 1051}
	settle(&c, new(bounds))
	for _, x := range []struct {
		at, until Time
		phase     Phase
	}{{1000, 1030, PhaseQueue}, {1029, 1030, PhaseQueue}, {1030, 1032, PhaseSend}, {1032, 1050, PhaseRemote}, {1050, 1051, PhaseReceive}} {
		if phase, until := c.phaseAt(x.at); phase != x.phase || until != x.until {
			t.Errorf("at %d: %v until %d, want %v until %d", x.at, phase, until, x.phase, x.until)
		}
	}
}
