package build

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/recording"
)

// A request may wait for a look-up that leads to no call, or that another strand makes for it, or its loop along with
// others. What ran when the question was sent shows which request asked.

// nameAskers finds the requests that look-ups are made for.
type nameAskers struct {
	t      *timeline.Timeline
	f      *facts.Facts
	owners timeline.Stints
	runs   running.GoRuns
	index  facts.GoroutineIndex
}

// list returns, by request, when look-ups that it had asked for waited for their answers, in order and disjoint; nil if
// there are none.
func (a nameAskers) list(all []exchange.Resolution) [][]timeline.Stint {
	if len(all) == 0 {
		return nil
	}
	of := make([][]timeline.Stint, len(a.t.Requests))
	for i := range all {
		d := &all[i]
		if d.Open > 0 || d.To <= d.From {
			continue
		}
		for _, r := range a.whose(d) {
			of[r] = append(of[r], timeline.Stint{From: d.From, To: d.To})
		}
	}
	for r, list := range of {
		of[r] = timeline.MergeStints(list)
	}
	return of
}

// whose returns the requests that asked for a resolution. Threads that wait for the answer themselves are left out:
// their waits show it.
func (a nameAskers) whose(d *exchange.Resolution) []timeline.RequestID {
	s := a.f.Strand(d.Thread)
	switch {
	case s == timeline.None:
		return nil
	case a.t.Strands[s].Loop:
		return a.onLoop(s, d.From)
	case a.f.RuntimeOf(d.Thread) == recording.RuntimeGo:
		return a.onGoroutine(s, d)
	}
	return nil
}

// onLoop returns the request that a loop last worked for before a time, if the loop has not slept since.
func (a nameAskers) onLoop(s timeline.StrandID, at recording.Time) []timeline.RequestID {
	list := a.owners[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].From > at })
	if i == 0 || timeline.Slept(a.t, s, min(list[i-1].To, at), at) {
		return nil
	}
	return []timeline.RequestID{list[i-1].Request}
}

// askers is how many goroutines lie between the one that serves a request and the one that asks for it: one for the
// name, and one for each kind of address.
const askers = 3

// onGoroutine returns the request of the goroutine that ran when the question was sent, or of an ancestor of it, and
// the requests of all goroutines that these wake with the answer. A goroutine that wants a name which is already being
// looked up waits for that look-up.
func (a nameAskers) onGoroutine(thread timeline.StrandID, d *exchange.Resolution) (of []timeline.RequestID) {
	list := a.runs.Sights[thread]
	i := sort.Search(len(list), func(k int) bool { return list[k].At > d.From })
	if i == 0 || list[i-1].Left {
		return nil
	}
	k := timeline.GoroutineKey{Process: a.t.Strands[thread].Process, Goroutine: list[i-1].Goroutine}
	var between []recording.GoroutineID
	for range askers {
		if k.Goroutine == recording.NoGoroutine {
			break
		}
		if r := a.servedBy(k, d.From); r != timeline.None {
			of = append(of, r)
			break
		}
		between = append(between, k.Goroutine)
		k.Goroutine = recording.NoGoroutine
		if from, known := a.f.Goroutines.Origins[timeline.GoroutineKey{Process: k.Process, Goroutine: between[len(between)-1]}]; known {
			k.Goroutine = from.Parent
		}
	}
	wakes := a.f.Parks.Unparks
	for i := sort.Search(len(wakes), func(k int) bool { return wakes[k].At >= d.To }); i < len(wakes) && wakes[i].At.Sub(d.To) <= exchange.GoDials; i++ {
		u := wakes[i]
		woken := a.f.GoKeyOf(u.Thread, u.Woken)
		if r := a.servedBy(woken, u.At); r != timeline.None && woken.Process == k.Process && slices.Contains(between, u.Goroutine) && !slices.Contains(of, r) {
			of = append(of, r)
		}
	}
	return of
}

// servedBy returns the request that a goroutine served at a time, or None.
func (a nameAskers) servedBy(k timeline.GoroutineKey, at recording.Time) timeline.RequestID {
	if s := a.index.Of(k); s != timeline.None {
		return a.owners.At(s, at)
	}
	return timeline.None
}
