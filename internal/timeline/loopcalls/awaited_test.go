package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Requests 0, 1 and 2 were read at 100, 200 and 300, and are answered at 1000.
func threeRequests() *awaits {
	w := &awaits{t: &timeline.Timeline{End: 2000}, now: map[int64]*waiter{}, taken: map[timeline.RequestID]bool{}}
	for k := range 3 {
		w.t.Requests = append(w.t.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: recording.Time(100 + 100*k), FirstWrite: 1000, End: 1000})
	}
	w.in.wanted = make([]recording.Time, 3)
	w.ends = servedUntils(w.t)
	return w
}

// The waiter that continued last in a callback serves the request that is answered in it, if it can serve only one.
func TestWhoWaits(t *testing.T) {
	for name, c := range map[string]struct {
		since    []recording.Time
		answered []timeline.RequestID
		want     []timeline.RequestID
	}{
		"one, one":                           {[]recording.Time{150}, []timeline.RequestID{0}, []timeline.RequestID{0}},
		"there before it was read":           {[]recording.Time{150}, []timeline.RequestID{1}, []timeline.RequestID{timeline.None}},
		"one that cannot be the second":      {[]recording.Time{150}, []timeline.RequestID{0, 1}, []timeline.RequestID{0}},
		"one that may be either":             {[]recording.Time{250}, []timeline.RequestID{0, 1}, []timeline.RequestID{timeline.None}},
		"two, one of whom may be either":     {[]recording.Time{150, 250}, []timeline.RequestID{0, 1}, []timeline.RequestID{0, 1}},
		"two of whom both may be either":     {[]recording.Time{250, 260}, []timeline.RequestID{0, 1}, []timeline.RequestID{timeline.None, timeline.None}},
		"two of whom either may be answered": {[]recording.Time{150, 160}, []timeline.RequestID{0}, []timeline.RequestID{timeline.None, timeline.None}},
	} {
		w := threeRequests()
		s := awaitedSpan{from: 900, to: 950, answered: c.answered}
		for _, since := range c.since {
			s.who = append(s.who, &waiter{since: since, last: 920, of: timeline.None})
		}
		who := s.who
		w.noteSpan(s)
		w.noteSpan(awaitedSpan{from: 900, to: 950, who: who[:1], answered: []timeline.RequestID{2}, unknown: true}) // shows nothing
		w.pair()
		for k, x := range who {
			if x.of != c.want[k] {
				t.Errorf("%s: the waiter since %d is request %d, want %d", name, x.since, x.of, c.want[k])
			}
		}
	}
}

// Addresses are given out in order on a page. This is used if it holds for the known waiters.
func TestAddressesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		known  int64 // distance from one known waiter to the next
		second int64
		want   timeline.RequestID
	}{
		"in order":         {8, 808, 0},
		"not in order":     {-8, 808, timeline.None},
		"on another page":  {8, 800 + 1<<pageBits, timeline.None},
		"in another order": {8, 792, 1},
	} {
		w := threeRequests()
		for k := range fewInOrder + 1 {
			r := timeline.RequestID(len(w.t.Requests))
			w.t.Requests = append(w.t.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: recording.Time(400 + k), FirstWrite: 1000, End: 1000})
			w.waiters = append(w.waiters, &waiter{id: 1<<16 + int64(k)*c.known, of: r})
		}
		first, second := &waiter{id: 800, since: 350, last: 920, of: timeline.None}, &waiter{id: c.second, since: 350, last: 920, of: timeline.None}
		w.noteSpan(awaitedSpan{from: 900, to: 950, who: []*waiter{second, first}, answered: []timeline.RequestID{1, 0}})
		if w.pair(); first.of != c.want {
			t.Errorf("%s: the first is request %d, want %d", name, first.of, c.want)
		}
	}
}

// An address that serves more requests than one can, one after the other, belongs to a loop that works for all of
// them.
func TestLoopsThatWorkForAll(t *testing.T) {
	for lives := 1; lives <= 3; lives++ {
		w := threeRequests()
		w.t.Calls = []timeline.Call{{SendFrom: 350, Request: timeline.None}}
		for k := range lives {
			w.waiters = append(w.waiters, &waiter{id: 800, of: timeline.RequestID(k)})
		}
		w.waiters[0].calls = []timeline.CallID{0}
		if w.give(); (w.t.Calls[0].Request == 0) != (lives <= manyLives) {
			t.Errorf("of %d requests: the call is of %d", lives, w.t.Calls[0].Request)
		}
	}
}

// If V8 moves a waiter it stays the same waiter; what is at its old address later is another.
func TestWaitersThatMove(t *testing.T) {
	w := threeRequests()
	w.t.Requests = append(w.t.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 1500, FirstWrite: 1900, End: 1900})
	w.ends = servedUntils(w.t)
	w.in.loop.Settled = []loops.Settled{
		{At: 400, Waiter: 800}, {At: 500, Waiter: 800, Moved: 900}, {At: 600, Waiter: 900}, {At: 650, Waiter: 900, Moved: 950},
		{At: 700, Waiter: 950}, {At: 1600, Waiter: 950}, {At: 1700, Waiter: 800},
	}
	w.follow()
	var got []int64
	for k := range w.list {
		got = append(got, w.list[k].Waiter)
	}
	want := []int64{800, 800, 800, 950, 800}
	for k := range want {
		if len(got) != len(want) || got[k] != want[k] {
			t.Fatalf("those who wait: %d, want %d", got, want)
		}
	}
}
