package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A goroutine runs until 100, is on no thread, and runs again from 200 to 260. At 150 it waits for the bytes that it
// reads after 200.
func TestWhatAGoroutineWaitsToRead(t *testing.T) {
	const other = 3
	for _, c := range []struct {
		name  string
		moves []Move
		want  bool
	}{
		{"it reads what came meanwhile", []Move{{At: 50, Arrived: 40, Conn: other}, {At: 210, Arrived: 190}}, true},
		{"it writes first", []Move{{At: 205, Conn: None}, {At: 210, Arrived: 190}}, false},
		{"it was there before", []Move{{At: 210, Arrived: 90}}, false},
		{"it came once it ran", []Move{{At: 250, Arrived: 240}}, false},
		{"it reads later, having been away again", []Move{{At: 310, Arrived: 190}}, false},
		{"it reads nothing", nil, false},
	} {
		key := GoroutineKey{Process: 1, Goroutine: 7}
		tl := &Timeline{Strands: []Strand{{Process: 1, Goroutine: 7}}, Goroutines: Goroutines{Stints: map[GoroutineKey][]ThreadStint{
			key: {{From: 20, To: 100, Exact: true}, {From: 200, To: 260, Exact: true}, {From: 300, To: 320, Exact: true}},
		}}}
		tl.Goroutines.AddMoves(0, c.moves)
		if x := AwaitedRead(tl, 0, 150); (x != nil) != c.want || c.want && x.Conn == other {
			t.Errorf("%s: %+v", c.name, x)
		}
		if x := AwaitedRead(tl, 0, 230); x != nil {
			t.Errorf("%s: it runs, and waits for %+v", c.name, x)
		}
	}
}

// A thread sleeps from 100 to 200 and runs until 300. At 150 it waits for the bytes that it reads after 200.
func TestWhatAThreadWaitsToRead(t *testing.T) {
	const other = 3
	for _, c := range []struct {
		name  string
		moves []Move
		want  bool
	}{
		{"it reads what came meanwhile", []Move{{At: 50, Arrived: 40, Conn: other}, {At: 210, Arrived: 190}}, true},
		{"it writes first", []Move{{At: 205, Conn: None}, {At: 210, Arrived: 190}}, false},
		{"it was there before", []Move{{At: 210, Arrived: 90}}, false},
		{"it came once it ran", []Move{{At: 250, Arrived: 240}}, false},
		{"it reads later, having slept again", []Move{{At: 410, Arrived: 190}}, false},
		{"it reads nothing", nil, false},
	} {
		tl := &Timeline{Strands: []Strand{{Goroutine: recording.NoGoroutine, Intervals: []Interval{
			{From: 0, To: 100, State: StateRunning}, {From: 100, To: 200, State: StateSleeping}, {From: 200, To: 202, State: StateRunnable},
			{From: 202, To: 300, State: StateRunning}, {From: 300, To: 400, State: StateSleeping}, {From: 400, To: 500, State: StateRunning},
		}}}}
		tl.Goroutines.AddMoves(0, c.moves)
		if x := AwaitedRead(tl, 0, 150); (x != nil) != c.want || c.want && x.Conn == other {
			t.Errorf("%s: %+v", c.name, x)
		}
		if x := AwaitedRead(tl, 0, 205); x != nil {
			t.Errorf("%s: it runs, and waits for %+v", c.name, x)
		}
	}
}
