package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// One thread serves four errands that come at once and take 10 ms each, 8 ms of which it waits for a lock. Without the
// lock the queue takes a fifth of its time.
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
	e.replay(untilNext)
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

// Two threads serve errands of 10 ms that come three at once. One thread waits 8 ms of each for a lock, the other
// computes. Without the lock the third errand is taken after 2 ms, not 10. If both compute, and some other thread waits
// for the lock, nothing changes.
func TestErrandsWaitForComputingAsBefore(t *testing.T) {
	ms := func(n int64) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	const waits, computes, other = timeline.StrandID(3), timeline.StrandID(4), timeline.StrandID(5)
	for _, c := range []struct {
		what  string
		waits timeline.StrandID
		want  diagnosis.Time // how much less the third errand of each time waits
	}{{"one waits for the lock", waits, ms(8)}, {"both compute", other, 0}} {
		e := executor{threads: 2}
		for at := int64(100); at <= 300; at += 100 {
			for i, strand := range []timeline.StrandID{waits, computes, waits} {
				taken := ms(at)
				if i == 2 {
					taken = ms(at + 10)
				}
				e.errands = append(e.errands, errand{stay: stay{
					Span: diagnosis.Span{Request: diagnosis.RequestID(len(e.errands)), From: ms(at) - 1, To: taken}, strand: strand,
				}})
			}
		}
		e.replay(untilNext)
		sum := sumOf([]diagnosis.Span{{From: ms(100), To: ms(108)}, {From: ms(200), To: ms(208)}, {From: ms(300), To: ms(308)}})
		var got diagnosis.Time
		for _, s := range e.spare(map[timeline.StrandID]*busySum{c.waits: &sum}) {
			if s.Request == 2 {
				got += s.To - s.From
			}
		}
		if got != c.want {
			t.Errorf("%s: the third errand waits %d us less, want %d us", c.what, got/1000, c.want/1000)
		}
	}
}

// untilNext says that a thread is busy all the time.
func untilNext(t *errand, next diagnosis.Time) Duration { return next.Sub(t.To) }

// One thread serves an errand every 100 ms, takes it 1 ms after it came, and is busy for 10 ms, 5 ms of which it waits
// for a lock. It is idle when the next one comes, which waits no less without the lock: what is saved of one errand is
// not saved of those after it.
func TestErrandsOfAnIdleThreadWaitAsBefore(t *testing.T) {
	ms := func(n int64) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	const thread = timeline.StrandID(3)
	e := executor{threads: 1}
	var waits []diagnosis.Span
	for i := range int64(5) {
		came := ms(100 * (i + 1))
		e.errands = append(e.errands, errand{stay: stay{
			Span: diagnosis.Span{Request: diagnosis.RequestID(i), From: came, To: came + ms(1)}, strand: thread,
		}})
		waits = append(waits, diagnosis.Span{From: came + ms(2), To: came + ms(7)})
	}
	e.replay(func(*errand, diagnosis.Time) Duration { return 10 * milli })
	sum := sumOf(waits)
	if less := e.spare(map[timeline.StrandID]*busySum{thread: &sum}); len(less) != 0 {
		t.Errorf("%d errands wait less, want none", len(less))
	}
}

// Two threads are busy with requests that did not wait for them: pool-1 waits 9 ms for a lock, pool-2 computes for 8
// ms. A request that comes then waits until pool-2 is free. Without the lock pool-1 would have taken it at once.
func TestErrandsWaitBehindRequestsThatDidNot(t *testing.T) {
	ms := func(n int64) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	const server, locked, computes = timeline.StrandID(0), timeline.StrandID(1), timeline.StrandID(2)
	request := func(id diagnosis.RequestID, from, to diagnosis.Time, by timeline.StrandID, taken diagnosis.Time, segments ...timeline.Segment) timeline.Request {
		r := timeline.Request{ID: id, Start: from, FirstRead: from, End: to, Strand: server,
			RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{Parts: []timeline.Part{{Strand: by, From: taken, To: to}}}}
		r.SetSegments(segments)
		return r
	}
	tl := &timeline.Timeline{
		Strands: []timeline.Strand{{Name: "server"}, {Name: "pool-1"}, {Name: "pool-2"}},
		Requests: []timeline.Request{
			request(0, ms(100), ms(110), locked, ms(100)),
			request(1, ms(100), ms(108), computes, ms(100)),
			request(2, ms(101), ms(112), computes, ms(108), timeline.Segment{From: ms(101), To: ms(108), Cause: timeline.CausePool, Phase: timeline.PhaseHandler, Strand: computes}),
			request(3, ms(200), ms(201), locked, ms(200)), // how long a thread is busy is known up to its next request
		},
	}
	sum := sumOf([]diagnosis.Span{{From: ms(100), To: ms(109)}})
	got := executorsFree(diagnosis.NewCase(tl, diagnosis.Options{}), map[timeline.StrandID]*busySum{locked: &sum})
	if len(got) != 1 || got[0].Request != 2 || got[0].To.Sub(got[0].From) != 7*milli {
		t.Errorf("got %+v, want that request 2 waits 7 ms less", got)
	}
}
