package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// One thread serves four errands that come at once and take 10 ms each, of which it
// waits 8 ms for a lock: without the lock the queue takes a fifth of its time.
func TestErrandsWaitLessForThreadsThatWaitLess(t *testing.T) {
	ms := func(n int64) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	const thread = timeline.StrandID(3)
	e := executor{threads: 1}
	var waits []diagnosis.Span
	for i := range int64(4) {
		taken := ms(100 + 10*i)
		e.errands = append(e.errands, errand{stay: stay{
			Span: diagnosis.Span{Request: diagnosis.RequestID(i), From: ms(100), To: taken}, strand: thread,
		}})
		waits = append(waits, diagnosis.Span{From: taken, To: taken + ms(8)})
	}
	e.replay()
	sum := sumOf(waits)
	gone := map[diagnosis.RequestID]diagnosis.Time{}
	for _, s := range e.spare(map[timeline.StrandID]*busySum{thread: &sum}) {
		gone[s.Request] += s.To - s.From
	}
	for request, want := range map[diagnosis.RequestID]diagnosis.Time{0: 0, 1: ms(8), 2: ms(16), 3: ms(24)} {
		if gone[request] != want {
			t.Errorf("request %d waits %d us less, want %d us less", request, gone[request]/1000, want/1000)
		}
	}
	if again := e.spare(nil); len(again) != 0 {
		t.Errorf("nothing is spared, yet %d errands wait less", len(again))
	}
}
