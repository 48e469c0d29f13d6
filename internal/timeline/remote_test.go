package timeline

import (
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// What stood in line for its answer stood behind somebody, even where the answers of all
// that were ahead came at once and none of them took time of its own.
func TestBehindAnswersThatComeTogether(t *testing.T) {
	ms := func(n int) Time { return Time(n) * Time(time.Millisecond) }
	call := func(id CallID, r RequestID, sent, answered int) Call {
		return Call{ID: id, Request: r, SendFrom: ms(sent), Sent: ms(sent), Arrived: ms(answered), End: ms(answered), Left: recording.NoTime, Turn: recording.NoTime, Behind: None}
	}
	tl := &Timeline{Requests: []Request{{RequestMore: &RequestMore{}, Start: ms(0)}, {RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, Start: ms(0)}}}
	ahead := []Call{call(0, 1, 1, 10), call(1, 0, 2, 10)}
	last := call(2, 1, 3, 12)
	standBehind(tl, ahead, &last, 0)
	if last.Turn != ms(10) || last.Behind != 1 {
		t.Errorf("its turn came at %v behind call %d, want 10 ms, behind call 1", last.Turn, last.Behind)
	}
}
