package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// Six requests come at once, and each needs a name of its own, which takes 100 ms to look up. If two names are looked
// up at once, the other four requests wait for that. If a client lets two calls through at once, and their answers take
// long, the requests wait for those.
func TestWaitsBehindTheLookUpsOfOthers(t *testing.T) {
	ms := func(n int) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	for name, x := range map[string]struct {
		lookup, answer, turn int
		waits                Duration
	}{
		"for look-ups": {100, 5, 100, (2*100 + 2*200) * milli},
		"for answers":  {10, 90, 100, 0},
	} {
		tl := &timeline.Timeline{Processes: []timeline.Process{{ID: 1}}, Strands: []timeline.Strand{{Process: 1}}}
		for i := range 6 {
			id, begun := timeline.CallID(i), ms(1+i/2*x.turn)
			found := begun + ms(x.lookup)
			end := found + ms(x.answer)
			r := timeline.Request{ID: diagnosis.RequestID(i), Start: ms(1), FirstRead: ms(1), End: end, Process: 1, RequestBy: &timeline.RequestBy{}}
			r.SetSegments([]timeline.Segment{
				{From: ms(1), To: begun, Cause: timeline.CausePool, Phase: timeline.PhaseQueue, Call: id},
				{From: begun, To: found, Cause: timeline.CauseRemote, Phase: timeline.PhaseDNS, Call: id},
				{From: found, To: end, Cause: timeline.CauseRemote, Phase: timeline.PhaseRemote, Call: id},
			})
			tl.Requests = append(tl.Requests, r)
			tl.Calls = append(tl.Calls, timeline.Call{ID: id, Request: r.ID, Process: 1, New: true, Start: ms(1), DNSFrom: begun, DNSTo: found, End: end})
		}
		b := newBehindLookups(diagnosis.NewCase(tl, diagnosis.Options{}))
		if got := diagnosis.Total(b.spans); got != x.waits || got > 0 && b.most != 2 {
			t.Errorf("%s: they wait %d ms behind %d look-ups at once, want %d ms", name, got/milli, b.most, x.waits/milli)
		}
	}
}
