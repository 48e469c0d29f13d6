package recording

import (
	"bytes"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

// three workers take turns, as processors do.
func three() Workers {
	return Workers{N: 3, Each: func(n int, do func(worker, i int)) {
		var next atomic.Int64
		var all sync.WaitGroup
		for worker := range 3 {
			all.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					do(worker, i)
				}
			})
		}
		all.Wait()
	}}
}

// A file of many blocks that defines a kind of its own in the middle, whole and cut at any place.
func TestSeveralWorkersReadWhatOneReads(t *testing.T) {
	var events []Event
	for i := range int64(120_000) {
		var f Fact = &Off{Thread: ThreadID(i % 7), Since: Time(i), Woken: Time(i + 5), Syscall: "futex"}
		if i%50_000 == 49_999 {
			f = &UnknownFact{Name: "of-tomorrow", Fields: []Field{{Name: "n", Int: i}}}
		}
		events = append(events, Event{Time: Time(i), Fact: f})
	}
	events = append(events, Event{Time: 120_000, Fact: &End{Reason: "time"}})
	file := encode(t, events)
	for _, cut := range []int{0, 1, 1000, len(file) / 3, len(file) / 2} {
		one, err := Load(bytes.NewReader(file[:len(file)-cut]))
		if err != nil {
			t.Fatal(err)
		}
		several, err := LoadBy(three(), bytes.NewReader(file[:len(file)-cut]))
		if err != nil {
			t.Fatal(err)
		}
		if cut == 0 && len(one.Events) != len(events) || cut > 0 && one.Dropped == 0 {
			t.Errorf("cut by %d: %d events of %d, %d bytes dropped", cut, len(one.Events), len(events), one.Dropped)
		}
		if !reflect.DeepEqual(one, several) {
			t.Errorf("cut by %d: one reads %d events and drops %d bytes, several %d and %d", cut, len(one.Events), one.Dropped, len(several.Events), several.Dropped)
		}
	}
}
