package report

import "github.com/getdwell/dwell/internal/timeline"

// parked takes a segment in which a goroutine was on no thread apart by its waits for
// others, each of which has its stack. Of its calls no thread's stack tells.
func (x *stackIndex) parked(c charge, into []charge) []charge {
	at := c.from
	for _, id := range x.tl.WaitsIn(c.segment.Strand, c.from, c.to) {
		w := &x.tl.Waits[id]
		if w.Cause != c.segment.Cause && c.segment.Cause != timeline.CauseRunnable || w.Stack == timeline.None {
			continue
		}
		from, to := max(w.From, at), min(w.Back, c.to)
		if from > at {
			into = append(into, charge{c.segment, at, from, timeline.None, byNothing, 0})
		}
		if from < to {
			into = append(into, charge{c.segment, from, to, w.Stack, byOwnStack, w.From})
			at = to
		}
	}
	if at < c.to {
		into = append(into, charge{c.segment, at, c.to, timeline.None, byNothing, 0})
	}
	return into
}

// parked describes a goroutine that waits for another one; nil if it does not.
func (d *dumper) parked(id timeline.StrandID) *DumpThread {
	w := d.tl.WaitAt(id, d.at)
	if w == timeline.None || !blocks(d.tl.Waits[w].Cause) {
		return nil
	}
	t := d.named(id)
	x := &d.tl.Waits[w]
	t.Name, t.State, t.Cause, t.For = strandName(d.tl, id), "blocked", x.Cause.String(), d.at.Sub(x.From)
	t.Wait, t.stack = d.wait(w), x.Stack
	if x.Stack != timeline.None {
		t.Seen.How = "own"
		d.placed(t)
	}
	return t
}
