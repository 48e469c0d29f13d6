package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// syncing is what requests had of syncs.
type syncing struct {
	stays  []stay // the pieces of them within a sync, whatever its thread did meanwhile
	syncs  int    // that they depended on
	total  Duration
	asleep Duration // of that
}

// syncingOf finds it; its callers share it.
func syncingOf(c *diagnosis.Case) *syncing {
	return c.Shared("syncs of requests", func() any {
		y := &syncing{}
		if len(c.Syncs) == 0 {
			return y
		}
		seen := map[timeline.SyncID]bool{}
		for _, id := range c.Measured() {
			for s := c.Requests[id].Segments(); s.Next(); {
				y.within(c, id, &s.Segment, seen)
			}
		}
		y.syncs = len(seen)
		return y
	}).(*syncing)
}

// within adds what of a segment is within syncs of its strand: what that computes, waits for a
// processor and sleeps there. In another phase than a request's own it may do so for another one.
func (y *syncing) within(c *diagnosis.Case, id diagnosis.RequestID, s *timeline.Segment, seen map[timeline.SyncID]bool) {
	if s.Strand == timeline.None || s.Cause != timeline.CauseDisk && !ofOwnWork(s) {
		return
	}
	list := c.SyncsOf(s.Strand)
	i, _ := slices.BinarySearchFunc(list, s.From+1, func(k timeline.SyncID, t diagnosis.Time) int { return cmp.Compare(c.Syncs[k].To, t) })
	for ; i < len(list) && c.Syncs[list[i]].From < s.To; i++ {
		sync := &c.Syncs[list[i]]
		piece := *s
		piece.From, piece.To = max(s.From, sync.From), min(s.To, sync.To)
		from := len(y.stays)
		y.stays = staysIn(c, y.stays, &piece, id)
		for k := range y.stays[from:] {
			w := &y.stays[from+k]
			if w.wait == timeline.None {
				w.wait = sleepIn(c, s.Strand, sync)
			}
		}
		if y.total += piece.To.Sub(piece.From); s.Cause == timeline.CauseDisk {
			y.asleep += piece.To.Sub(piece.From)
		}
		seen[list[i]] = true
	}
}

// ofOwnWork reports a segment in which a request's own work goes on, or could.
func ofOwnWork(s *timeline.Segment) bool {
	switch s.Cause {
	case timeline.CauseOnCPU, timeline.CauseRunnable, timeline.CausePageFault, timeline.CauseUnknown:
		return s.Phase != timeline.PhaseUnread && s.Phase != timeline.PhasePickUp
	}
	return false
}

// sleepIn is the first sleep for a disk within a sync of a strand, which tells where in the code
// that was called; None if it did not sleep.
func sleepIn(c *diagnosis.Case, strand timeline.StrandID, y *timeline.Sync) timeline.WaitID {
	waits := c.Sleeps(strand)
	i, _ := slices.BinarySearchFunc(waits, y.From+1, func(w timeline.WaitID, t diagnosis.Time) int { return cmp.Compare(c.Waits[w].Back, t) })
	for ; i < len(waits) && c.Waits[waits[i]].From < y.To; i++ {
		if c.Waits[waits[i]].Cause == timeline.CauseDisk {
			return waits[i]
		}
	}
	return timeline.None
}

// syncAt is the sync of a strand at a time; nil if there is none.
func syncAt(c *diagnosis.Case, strand timeline.StrandID, at diagnosis.Time) *timeline.Sync {
	list := c.SyncsOf(strand)
	i, _ := slices.BinarySearchFunc(list, at+1, func(k timeline.SyncID, t diagnosis.Time) int { return cmp.Compare(c.Syncs[k].To, t) })
	if i < len(list) && c.Syncs[list[i]].From <= at {
		return &c.Syncs[list[i]]
	}
	return nil
}
