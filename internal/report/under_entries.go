package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// UnderEntry is a stretch of a request in which one thread was seen beneath a function, and never outside of it. Two
// entries with nothing seen between them look like one; an entry in which nothing was seen is not detected.
type UnderEntry struct {
	From   Duration `json:"from_ns"` // since the request's start: first seen
	To     Duration `json:"to_ns"`   // last seen
	Strand string   `json:"strand"`
	Waited Duration `json:"waited_ns"` // of that time, in waits with a stack beneath the function: exact
	Seen   int      `json:"stacks"`    // waits and samples seen
	Most   Duration `json:"most_ns"`   // upper bound: from the last stack outside of it before to the first one after
}

// Entered estimates how often a function was entered, and how long each entry took, from stacks taken in it and
// around it. See UnderEntry.
type Entered struct {
	Count    int     `json:"count"`    // lower bound
	Requests int     `json:"requests"` // number of requests that entered it
	Stacks   int     `json:"stacks"`   // waits and samples seen
	P50      Bracket `json:"p50"`
	P99      Bracket `json:"p99"`
	Max      Bracket `json:"max"`
}

// Bracket is a duration with known bounds.
type Bracket struct {
	Low  Duration `json:"low_ns"`
	High Duration `json:"high_ns"`
}

// entered collects the bounds of entries' durations.
type entered struct {
	requests, stacks int
	low, high        []Duration
}

// add adds the entries of one request.
func (e *entered) add(list []UnderEntry) {
	for i := range list {
		e.low = append(e.low, list[i].To-list[i].From)
		e.high = append(e.high, list[i].Most)
		e.stacks += list[i].Seen
	}
	if len(list) > 0 {
		e.requests++
	}
}

// told returns the quantiles of both bounds. If each entry's duration is within its bounds, the quantile of the
// durations is between these.
func (e *entered) told() Entered {
	slices.Sort(e.low)
	slices.Sort(e.high)
	at := func(percent int) Bracket {
		return Bracket{diagnosis.Quantile(e.low, percent), diagnosis.Quantile(e.high, percent)}
	}
	return Entered{len(e.low), e.requests, e.stacks, at(50), at(99), at(100)}
}

// sighting is a moment, or a wait, in which a strand's stack is known.
type sighting struct {
	strand   timeline.StrandID
	from, to timeline.Time
	stack    timeline.StackID
	wait     bool
}

// sight finds where the strands of the current request were seen.
func (u *underer) sight(r *timeline.Request) {
	u.seen = u.seen[:0]
	for i := range u.pieces {
		if c := &u.pieces[i]; c.stack != timeline.None && c.segment.Cause != timeline.CauseRunnable {
			u.seen = append(u.seen, sighting{c.segment.Strand, c.from, c.to, c.stack, true})
		}
	}
	for s := r.Segments(); s.Next(); {
		if s.Cause != timeline.CauseOnCPU || s.Strand == timeline.None || s.Phase == timeline.PhaseUnread {
			continue
		}
		for _, at := range u.index.between(s.Strand, s.From, s.To) {
			if at.Origin == recording.StackOnCPU {
				u.seen = append(u.seen, sighting{s.Strand, at.Time, at.Time, at.Stack, false})
			}
		}
	}
	slices.SortStableFunc(u.seen, func(a, b sighting) int { return cmp.Or(cmp.Compare(a.strand, b.strand), cmp.Compare(a.from, b.from)) })
}

// entries joins consecutive sightings of one strand beneath a function.
func (f *function) entries(u *underer, r *timeline.Request) []UnderEntry {
	var out []UnderEntry
	for i := 0; i < len(u.seen); i++ {
		if !f.has(u.seen[i].stack) {
			continue
		}
		first := &u.seen[i]
		e := UnderEntry{From: first.from.Sub(r.Start), Strand: strandName(u.tl, first.strand)}
		since, until := served(r, first.strand)
		if i > 0 && u.seen[i-1].strand == first.strand {
			since = u.seen[i-1].to
		}
		for ; i < len(u.seen) && u.seen[i].strand == first.strand; i++ {
			s := &u.seen[i]
			if !f.has(s.stack) {
				until = s.from
				break
			}
			e.To = max(e.To, s.to.Sub(r.Start))
			e.Seen++
			if s.wait {
				e.Waited += s.to.Sub(s.from)
			}
		}
		i--
		e.Most = max(until.Sub(since), e.To-e.From)
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b UnderEntry) int { return cmp.Compare(a.From, b.From) })
	return out
}

// served returns from when to when a strand worked for a request.
func served(r *timeline.Request, id timeline.StrandID) (from, to timeline.Time) {
	from, to = r.End, r.Start
	for s := r.Segments(); s.Next(); {
		if s.Strand == id {
			from, to = min(from, s.From), max(to, s.To)
		}
	}
	return from, to
}
