package segments

import (
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A call that queued for its answer stood behind another one, even if the answers of all earlier calls came at once and
// none of them took time of its own.
func TestBehindAnswersThatComeTogether(t *testing.T) {
	ms := func(n int) recording.Time { return recording.Time(n) * recording.Time(time.Millisecond) }
	call := func(id timeline.CallID, r timeline.RequestID, sent, answered int) timeline.Call {
		return timeline.Call{ID: id, Request: r, SendFrom: ms(sent), Sent: ms(sent), Arrived: ms(answered), End: ms(answered), Left: recording.NoTime, Turn: recording.NoTime, Behind: timeline.None}
	}
	tl := &timeline.Timeline{Requests: []timeline.Request{{RequestMore: &timeline.RequestMore{}, Start: ms(0)}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, Start: ms(0)}}}
	ahead := []timeline.Call{call(0, 1, 1, 10), call(1, 0, 2, 10)}
	last := call(2, 1, 3, 12)
	standBehind(tl, ahead, &last, 0)
	if last.Turn != ms(10) || last.Behind != 1 {
		t.Errorf("its turn came at %v behind call %d, want 10 ms, behind call 1", last.Turn, last.Behind)
	}
}
