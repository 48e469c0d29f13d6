package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// onCarrier is the function in which a JVM's virtual thread waits if it cannot leave the thread that carries it.
const onCarrier = "VirtualThread.parkOnCarrierThread"

// pinnedFix is the advice for carriers to which virtual threads are pinned.
const pinnedFix = "a ReentrantLock in place of synchronized around what waits, or JDK 24 and newer, where synchronized pins none (frames of native code still do); " +
	"until then more carriers (-Djdk.virtualThreadScheduler.parallelism)"

// pinned returns for how much of the time in which requests waited, unread, for workers these could do nothing else
// because a virtual thread was pinned to them, and in which code that thread waited; "" if that is not known.
func pinned(c *diagnosis.Case) (share diagnosis.Share, place string) {
	var held, waited Duration
	sites, looked := lined{}, 0
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		for s := r.Segments(); s.Next(); {
			if !forWorker(c, r, &s.Segment) || s.Strand == timeline.None || looked >= lookedAt {
				continue
			}
			looked++
			waited += s.To.Sub(s.From)
			for _, a := range c.Doing(s.Strand, s.From, s.To) {
				frames := c.StackFrames(a.Stack)
				if !slices.ContainsFunc(frames, func(f recording.Frame) bool { return symbol.Name(f) == onCarrier }) {
					continue
				}
				held += a.To.Sub(a.From)
				if k := slices.IndexFunc(frames, symbol.Application); k >= 0 {
					sites.add(c, frames[k], a.To.Sub(a.From))
				}
			}
		}
	}
	if f, found := sites.most(); found {
		place = symbol.Place(f)
	}
	return diagnosis.ShareOf(int64(held), int64(waited)), place
}

// behindPinned says that requests wait for carriers to which virtual threads are pinned, on whatever connections they
// came; nil if virtual threads are pinned for less than half of that time.
func behindPinned(c *diagnosis.Case, ev []diagnosis.Evidence) *diagnosis.Candidate {
	part, place := pinned(c)
	if part < diagnosis.Whole/2 {
		return nil
	}
	who := "virtual threads are pinned to their carrier threads"
	if place != "" {
		who += " while they wait, mostly in " + place
	}
	ev = slices.Insert(slices.Clone(ev), 0, diagnosis.Part("of the wait for workers passes while a virtual thread is pinned to one", part).Against(int64(diagnosis.Whole/2)))
	cd := behindTheQueue(c, who, c.Spans(func(r *timeline.Request, s *timeline.Segment) bool { return forWorker(c, r, s) }), ev)
	cd.Fix, cd.WhatIf = pinnedFix, nil
	return &cd
}
