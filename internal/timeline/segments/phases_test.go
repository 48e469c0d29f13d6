package segments

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A goroutine works from 10 to 100. Meanwhile a call of its request looks up a name until 20, does a handshake until
// 50, is written until 60 and is with the peer until 90. The work during the handshake and the writing belongs to these
// phases; the rest is the request's own.
func TestWorkIsOfThePhaseThatItIsDoneFor(t *testing.T) {
	calls := []span{{5, 20, 3, timeline.PhaseDNS}, {20, 50, 3, timeline.PhaseTLS}, {50, 60, 3, timeline.PhaseSend}, {60, 90, 3, timeline.PhaseRemote}}
	var got []span
	byPhase(calls, 10, 100, func(x span) { got = append(got, x) })
	want := []span{{10, 20, timeline.None, timeline.PhaseHandler}, {20, 50, 3, timeline.PhaseTLS}, {50, 60, 3, timeline.PhaseSend}, {60, 100, timeline.None, timeline.PhaseHandler}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, within := range [][2]recording.Time{{25, 30}, {92, 95}} { // in one piece
		got = nil
		byPhase(calls, within[0], within[1], func(x span) { got = append(got, x) })
		if len(got) != 1 || got[0].from != within[0] || got[0].to != within[1] || (got[0].phase == timeline.PhaseTLS) != (within[0] == 25) {
			t.Errorf("%v: %v", within, got)
		}
	}
}
