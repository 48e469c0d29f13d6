package timeline

import "testing"

// A goroutine comes back from a select at 190 as one of connection 5 hands it something. It waited
// for that connection if its next call is on it, and none was under way meanwhile.
func TestWhoIsGivenAConnection(t *testing.T) {
	s := &segmenter{in: segmentInput{calls: []made{{conn: 3}, {conn: 5}}}}
	for _, c := range []struct {
		name  string
		calls []span
		want  CallID
	}{
		{"its next call is on the connection", []span{{from: 250, to: 300, call: 1}}, 1},
		{"on another one", []span{{from: 250, to: 300, call: 0}, {from: 400, to: 500, call: 1}}, None},
		{"it waited for an answer", []span{{from: 120, to: 185, call: 1}, {from: 250, to: 300, call: 1}}, None},
		{"it calls nobody", nil, None},
	} {
		if got := s.gotConnection(selected{at: 190, by: None, conn: 5}, parked{from: 100, to: 200, calls: c.calls}); got != c.want {
			t.Errorf("%s: call %d, want %d", c.name, got, c.want)
		}
	}
}
