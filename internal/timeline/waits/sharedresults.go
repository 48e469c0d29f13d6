package waits

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// resultWaits are rules of waits in which one request may wait for what another one obtains.
var resultWaits = []string{timeline.RuleGoWaitGroup, timeline.RuleGoChannel}

// sharedResults finds, among waits for other goroutines, those for a result that one request obtains for all that want
// it. At such a place, nine in ten waits are ended by a strand that serves another request, and did so before the wait
// began. That strand then counts as holding what the others wait for, like a lock.
func (s *Sleeps) sharedResults() {
	t := s.t
	for _, waits := range s.conditionsByPlace(resultWaits) {
		waits = slices.DeleteFunc(waits, func(id timeline.WaitID) bool { return t.Waits[id].Request == timeline.None })
		ended, shared := 0, 0
		for _, id := range waits {
			switch _, other := s.resultOf(&t.Waits[id]); {
			case other:
				shared++
				ended++
			case s.releaser(t.Waits[id].Off, t.Waits[id].Strand) != timeline.None:
				ended++
			}
		}
		if ended < fewWaits || 10*shared < 9*ended {
			continue
		}
		for _, id := range waits {
			w := &t.Waits[id]
			w.Cause, w.Rule, w.Quality = timeline.CauseLock, timeline.RuleShared, timeline.Inferred
		}
	}
}

// resultOf returns a Hold by the strand that ended a wait, if that strand had served another request since before the
// wait began.
func (s *Sleeps) resultOf(w *timeline.Wait) (h timeline.Hold, ok bool) {
	by := s.releaser(w.Off, w.Strand)
	if by == timeline.None {
		return timeline.Hold{}, false
	}
	r := s.owners.At(by, w.To-1)
	if r == timeline.None || r == w.Request || s.t.Requests[r].FirstRead > w.From {
		return timeline.Hold{}, false
	}
	return timeline.Hold{Strand: by, From: w.From, To: w.To, Basis: timeline.HoldByRelease}, true
}

// sharedHolds gives waits for shared results their Holds.
func (s *Sleeps) sharedHolds() {
	for i := range s.t.Waits {
		if w := &s.t.Waits[i]; w.Rule == timeline.RuleShared {
			if h, ok := s.resultOf(w); ok {
				w.Holds = []timeline.Hold{h}
			}
		}
	}
}
