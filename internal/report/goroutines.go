package report

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// parked splits a segment in which a goroutine was on no thread by its waits for others, each of which has its stack.
// For a goroutine's calls there is no thread's stack.
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

// parked describes a goroutine that waits for another one; nil if it does not wait.
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

// addHolders adds the goroutines that others wait for and that are not listed otherwise.
func (d *dumper) addHolders(threads []*DumpThread) []*DumpThread {
	listed := map[timeline.StrandID]bool{}
	for _, t := range threads {
		listed[t.strand] = true
	}
	for _, t := range threads {
		if t.Wait == nil || t.Wait.Holder == nil || listed[t.Wait.Holder.strand] {
			continue
		}
		id := t.Wait.Holder.strand
		listed[id] = true
		if d.tl.Strands[id].Goroutine != recording.NoGoroutine {
			threads = append(threads, d.holding(id, t.For))
		}
	}
	return threads
}

// holding describes a goroutine for which another one has waited for some time. The stack with which it later
// releases shows where its current work was called from.
func (d *dumper) holding(id timeline.StrandID, waited Duration) *DumpThread {
	t := d.named(id)
	t.Name, t.State, t.Cause = strandName(d.tl, id), "unknown", timeline.CauseUnknown.String()
	from := d.at - timeline.Time(waited)
	did := d.tl.Doing(id, from, d.at+1)
	for _, a := range did[max(0, len(did)-1):] {
		t.Cause, t.stack, t.For, t.AtLeast = a.Cause.String(), a.Stack, d.at.Sub(a.From), a.From == from
		switch {
		case a.Asleep:
			t.State = "waiting"
		case a.Cause == timeline.CauseOnCPU:
			t.State = "running"
		case a.Cause == timeline.CauseRunnable:
			t.State = "runnable"
		}
		if a.Call != timeline.None {
			c := &d.tl.Calls[a.Call]
			t.State, t.Call = "waiting", &DumpCall{a.Call, c.Peer, c.Operation, a.Phase.String()}
		}
	}
	if t.stack != timeline.None {
		t.Seen.How = "release"
		d.placed(t)
	}
	return t
}
