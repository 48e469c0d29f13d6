package report

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// amounts is the time spent beneath a stack or a frame, by cause.
type amounts struct {
	took   [timeline.NumCauses]Duration
	stacks int // seen there: own stacks of waits, and samples
	placed int // pieces of waits that use the stack of others at the same place
}

func (a *amounts) add(b *amounts) {
	for c := range a.took {
		a.took[c] += b.took[c]
	}
	a.stacks += b.stacks
	a.placed += b.placed
}

func (a *amounts) total() (sum Duration) {
	for _, d := range a.took {
		sum += d
	}
	return sum
}

// weights is the time of several requests by the stack beneath which it was spent. With the unaccounted time it sums
// to their durations.
type weights struct {
	requests    int
	total       Duration // their durations
	unaccounted Duration
	by          map[timeline.StackID]*amounts
	unseen      map[string]*amounts      // time without a stack, by what is known of it
	samples     map[timeline.StackID]int // of threads on a CPU
	shared      amounts                  // what was distributed over the samples
	last        waited                   // the wait counted last
}

// waited identifies a wait.
type waited struct {
	strand timeline.StrandID
	began  timeline.Time
}

// weigh adds up the time of requests by stack. The sum of CPU time, and of the time that threads waited for a CPU
// while they could run, is known exactly. It is distributed over the samples taken in it.
func (x *stackIndex) weigh(ids []timeline.RequestID) *weights {
	w := &weights{
		requests: len(ids), by: map[timeline.StackID]*amounts{}, unseen: map[string]*amounts{}, samples: map[timeline.StackID]int{},
	}
	var pieces []charge
	var seen []timeline.StackAt
	for _, id := range ids {
		r := &x.tl.Requests[id]
		w.total += r.Duration()
		w.unaccounted += r.Unaccounted()
		pieces = x.charges(r, pieces[:0])
		for i := range pieces {
			w.charge(x.tl, &pieces[i])
		}
		seen = x.samples(r, seen[:0])
		for _, s := range seen {
			w.samples[s.Stack]++
		}
	}
	w.share()
	return w
}

func (w *weights) charge(tl *timeline.Timeline, c *charge) {
	took := c.to.Sub(c.from)
	switch c.basis {
	case bySamples:
		w.shared.took[c.segment.Cause] += took
	case byNothing:
		at(w.unseen, unseen(tl, c.segment)).took[c.segment.Cause] += took
	default:
		a := at(w.by, c.stack)
		a.took[c.segment.Cause] += took
		this := waited{c.segment.Strand, c.began}
		if this == w.last {
			break // another piece of the same wait already counts
		}
		w.last = this
		if c.basis == byOwnStack {
			a.stacks++
		} else {
			a.placed++
		}
	}
}

// share gives every sample its part of the time on CPUs. The remainder of the division goes to the samples where
// rounding up happens first.
func (w *weights) share() {
	var n int64
	list := make([]timeline.StackID, 0, len(w.samples))
	for s, k := range w.samples {
		list = append(list, s)
		n += int64(k)
	}
	slices.Sort(list)
	for c, all := range w.shared.took {
		if all == 0 {
			continue
		}
		if n == 0 {
			at(w.unseen, "(no stack)").took[c] += all
			continue
		}
		var given, before int64
		for _, s := range list {
			given += int64(w.samples[s])
			upTo := scaled(int64(all), given, n)
			at(w.by, s).took[c] += Duration(upTo - before)
			before = upTo
		}
	}
	for _, s := range list {
		at(w.by, s).stacks += w.samples[s]
	}
}

func at[K comparable](m map[K]*amounts, k K) *amounts {
	a := m[k]
	if a == nil {
		a = &amounts{}
		m[k] = a
	}
	return a
}
