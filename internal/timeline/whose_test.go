package timeline

import (
	"reflect"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Requests of a process were open while a call was under way, or were proposed. The call belongs to request 1; request
// 0 was proposed before.
func TestOwnersOfACall(t *testing.T) {
	tl := &Timeline{
		Requests: []Request{
			{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 0, Process: 1, Start: 5, FirstRead: 10, End: 20},   // over when the call was sent
			{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 1, Process: 1, Start: 12, FirstRead: 15, End: 100}, // the call's owner
			{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 2, Process: 1, Start: 14, FirstRead: 16, End: 60},  // open too
			{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 3, Process: 2, Start: 14, FirstRead: 16, End: 60},  // of another process
			{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 4, Process: 1, Start: 40, FirstRead: 45, End: 90},  // read while the call was under way
		},
		Calls: []Call{
			{ID: 0, Request: 4, Process: 1, Conn: 7, Start: 20, SendFrom: 21, End: 25, Transaction: recording.TransactionOpen},
			{ID: 1, Request: None, Process: 1, Conn: 7, Ordinal: 1, Start: 30, SendFrom: 31, End: 50},
		},
	}
	c := &tl.Calls[1]
	tl.Assign(c, 0, WhyAsync)
	tl.Assign(c, None, WhyNoAsync)
	tl.Assign(c, 1, WhyAwaited)
	if c.Request != 1 || c.Why != WhyAwaited {
		t.Errorf("the call is of request %d (%s); the last proposal decides", c.Request, c.Why)
	}
	want := []Owner{{0, []string{WhyAsync}, BarAnswered}, {2, nil, BarSession}, {4, nil, BarUnread}}
	if got := tl.Owners(1); !reflect.DeepEqual(got, want) {
		t.Errorf("others: %+v\nwant:   %+v", got, want)
	}
	if tl.overruled = tl.overruled.renumber([]CallID{1, 0}); len(tl.Overruled(0)) != 1 || len(tl.Overruled(1)) != 0 {
		t.Errorf("renumbered: %v", tl.overruled)
	}
}
