package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A request may wait for a look-up that leads to no call, and that another strand makes for it, or
// its loop beside others: who asked is known by what ran where the question was sent.

// nameAskers find for whom look-ups are made.
type nameAskers struct {
	t      *timeline.Timeline
	f      *facts
	owners owners
	runs   goRuns
	index  goIndex
}

// list lists by request when look-ups that it had asked for waited for their answers, in
// order, disjoint; nil if there are none.
func (a nameAskers) list(all []resolution) [][]stint {
	if len(all) == 0 {
		return nil
	}
	of := make([][]stint, len(a.t.Requests))
	for i := range all {
		d := &all[i]
		if d.open > 0 || d.to <= d.from {
			continue
		}
		for _, r := range a.whose(d) {
			of[r] = append(of[r], stint{from: d.from, to: d.to})
		}
	}
	for r, list := range of {
		of[r] = mergeSpans(list)
	}
	return of
}

// whose are the requests that a resolution was asked for by. Threads that wait for the answer
// themselves have it in what they wait for.
func (a nameAskers) whose(d *resolution) []timeline.RequestID {
	s := a.f.strand(d.thread)
	switch {
	case s == timeline.None:
		return nil
	case a.t.Strands[s].Loop:
		return a.onLoop(s, d.from)
	case a.f.runtimeOf(d.thread) == recording.RuntimeGo:
		return a.onGoroutine(s, d)
	}
	return nil
}

// onLoop is the request that a loop worked for last before a time, without having slept since.
func (a nameAskers) onLoop(s timeline.StrandID, at recording.Time) []timeline.RequestID {
	list := a.owners[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == 0 || slept(a.t, s, min(list[i-1].to, at), at) {
		return nil
	}
	return []timeline.RequestID{list[i-1].request}
}

// askers is how many goroutines there are from the one that serves a request to the one that
// asks for it: one for the name, one for each kind of address.
const askers = 3

// onGoroutine is the request of the goroutine that ran where the question was sent, or of one
// that started it, and those of all that these wake with the answer: who wants a name that is
// being looked up waits for that one.
func (a nameAskers) onGoroutine(thread timeline.StrandID, d *resolution) (of []timeline.RequestID) {
	list := a.runs.sights[thread]
	i := sort.Search(len(list), func(k int) bool { return list[k].at > d.from })
	if i == 0 || list[i-1].left {
		return nil
	}
	k := timeline.GoroutineKey{Process: a.t.Strands[thread].Process, Goroutine: list[i-1].goroutine}
	var between []recording.GoroutineID
	for range askers {
		if k.Goroutine == recording.NoGoroutine {
			break
		}
		if r := a.servedBy(k, d.from); r != timeline.None {
			of = append(of, r)
			break
		}
		between = append(between, k.Goroutine)
		k.Goroutine = recording.NoGoroutine
		if from, known := a.f.golang.origins[timeline.GoroutineKey{Process: k.Process, Goroutine: between[len(between)-1]}]; known {
			k.Goroutine = from.parent
		}
	}
	wakes := a.f.parks.unparks
	for i := sort.Search(len(wakes), func(k int) bool { return wakes[k].at >= d.to }); i < len(wakes) && wakes[i].at.Sub(d.to) <= goDials; i++ {
		u := wakes[i]
		woken := a.f.goKeyOf(u.Thread, u.Woken)
		if r := a.servedBy(woken, u.at); r != timeline.None && woken.Process == k.Process && slices.Contains(between, u.Goroutine) && !slices.Contains(of, r) {
			of = append(of, r)
		}
	}
	return of
}

// servedBy is the request that a goroutine served at a time, or None.
func (a nameAskers) servedBy(k timeline.GoroutineKey, at recording.Time) timeline.RequestID {
	if s := a.index.of(k); s != timeline.None {
		return a.owners.at(s, at)
	}
	return timeline.None
}

// blank tiles a wait of which nothing else is known: by the look-ups that the request had asked
// for, if it went on after the last answer; then its strand had to come to that.
func (s *segmenter) blank(r *timeline.Request, g timeline.Segment, p *painter) {
	list := s.asks(r, g)
	if len(list) == 0 {
		p.add(g)
		return
	}
	for _, x := range list {
		before := g
		before.To = x.from
		p.add(before)
		p.add(timeline.Segment{From: x.from, To: x.to, Phase: timeline.PhaseDNS, Cause: timeline.CauseRemote, Quality: timeline.Inferred, Call: timeline.None, Strand: g.Strand, Blocker: timeline.None})
	}
	late := wait{r, r.Strand, list[len(list)-1].to, g.To, g.Phase, timeline.None}
	if s.t.Strands[r.Strand].Goroutine != recording.NoGoroutine {
		s.goWait(late, p)
	} else {
		s.readerWait(late, p)
	}
}

// asks returns the look-ups of a request that end within a wait of unknown cause, or right after it, which ends with
// the last answer; nil if it does not.
func (s *segmenter) asks(r *timeline.Request, g timeline.Segment) (list []stint) {
	if g.Cause != timeline.CauseUnknown || len(s.in.asked) == 0 {
		return nil
	}
	of := s.in.asked[r.ID]
	i, _ := slices.BinarySearchFunc(of, g.From+1, func(x stint, at recording.Time) int { return cmp.Compare(x.to, at) })
	for ; i < len(of) && of[i].from < g.To && of[i].to <= g.To+recording.Time(wakeLatency); i++ { // it runs again before it reads the answer
		list = append(list, stint{from: of[i].from, to: min(of[i].to, g.To)})
	}
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1].to
	if s.t.Strands[r.Strand].Loop && slept(s.t, r.Strand, last, g.To) || !s.t.Strands[r.Strand].Loop && g.To.Sub(last) > goDials {
		return nil
	}
	return list
}
