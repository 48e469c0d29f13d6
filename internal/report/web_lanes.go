package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// WebLanes shows what the strands of a recording did in one span, side by side.
type WebLanes struct {
	WebSpan
	Chosen  string    `json:"chosen"` // why this span
	Columns int       `json:"columns"`
	Lanes   []WebLane `json:"lanes"` // by process
	More    int       `json:"more"`  // number of strands that are left out: those that did least
}

// WebLane is what one strand did: runs of columns of time that look alike, each encoded as two numbers. The first is
// the number of columns. The second is 16 times what was done most, plus the sixteenths of the column in which
// anything was done, rounded up and less one. What was done most is the index of the page's Causes plus one; 0 means
// nothing: the strand did not exist, was idle, or it is not known.
type WebLane struct {
	PID  int64  `json:"pid"`
	TID  int64  `json:"tid"` // 0: a goroutine
	Name string `json:"name"`
	Runs int    `json:"runs"`
	Data Column `json:"data"`
}

// Limits of lanes.
const (
	mostLanes   = 120
	lanesOfPage = 480 // columns of the lanes on a page
	mostSlowest = 4   // requests whose span has lanes on a page
	MostColumns = 1200
)

// NewWebLanes returns what strands did in [from, to). Strands that served requests or were blocked come first, then
// those that changed their state most often.
func NewWebLanes(tl *timeline.Timeline, from, to timeline.Time, columns int) *WebLanes {
	from, to = max(from, tl.Start), min(to, tl.End)
	to = max(to, from+1)
	columns = max(1, min(columns, MostColumns, int(min(to-from, MostColumns))))
	l := &laner{tl: tl, from: from, to: to, columns: columns, pids: map[recording.ProcessID]int64{}}
	for i := range tl.Processes {
		l.pids[tl.Processes[i].ID] = tl.Processes[i].PID
	}
	out := &WebLanes{WebSpan: WebSpan{from.Sub(tl.Start), to.Sub(tl.Start)}, Columns: columns, Lanes: []WebLane{}}
	for _, id := range l.ranked() {
		if len(out.Lanes) == mostLanes {
			out.More++
		} else if lane, did := l.lane(id); did {
			out.Lanes = append(out.Lanes, lane)
		}
	}
	slices.SortStableFunc(out.Lanes, func(a, b WebLane) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
	return out
}

// webLanes returns the lanes of a page: of the whole recording, and around the slowest requests.
func webLanes(tl *timeline.Timeline, r *Report) []*WebLanes {
	all := NewWebLanes(tl, tl.Start, tl.End, lanesOfPage)
	all.Chosen = "the whole recording"
	out := []*WebLanes{all}
	for i := range r.Endpoints[:min(len(r.Endpoints), mostSlowest)] {
		e := &r.Endpoints[i]
		q := &tl.Requests[e.Slowest]
		around := (q.End - q.Start) / 10
		one := NewWebLanes(tl, q.Start-around, q.End+around, lanesOfPage)
		one.Chosen = "the slowest " + e.Name
		out = append(out, one)
	}
	return out
}

type laner struct {
	tl       *timeline.Timeline
	from, to timeline.Time
	columns  int
	pids     map[recording.ProcessID]int64
	doing    []timeline.Activity
}

// ranked returns the strands that may have done something in the span.
func (l *laner) ranked() []timeline.StrandID {
	works := workers(l.tl)
	changes := map[timeline.StrandID]int{}
	var out []timeline.StrandID
	for i := range l.tl.Strands {
		id := timeline.StrandID(i)
		if changes[id] = len(intervals(&l.tl.Strands[i], l.from, l.to)); changes[id] > 0 || works[id] {
			out = append(out, id)
		}
	}
	slices.SortStableFunc(out, func(a, b timeline.StrandID) int {
		if works[a] != works[b] {
			if works[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(changes[b], changes[a])
	})
	return out
}

// edgeOf returns where a column begins.
func (l *laner) edgeOf(column int) timeline.Time {
	return l.from + timeline.Time(scaled(int64(l.to-l.from), int64(column), int64(l.columns)))
}

// lane returns what one strand did; did is false if it did nothing.
func (l *laner) lane(id timeline.StrandID) (out WebLane, did bool) {
	st := &l.tl.Strands[id]
	out = WebLane{PID: l.pids[st.Process], TID: st.TID, Name: strandName(l.tl, id)}
	l.doing = l.tl.DoingIn(l.doing, id, l.from, l.to)
	last, run, k := int64(-1), int64(0), 0
	flush := func() {
		if run > 0 {
			out.Data.add(run)
			out.Data.add(last)
			out.Runs++
		}
	}
	for x := range l.columns {
		from, to := l.edgeOf(x), l.edgeOf(x+1)
		for k < len(l.doing) && l.doing[k].To <= from {
			k++
		}
		v := l.most(k, from, to)
		did = did || v > 0
		if v != last {
			flush()
			last, run = v, 0
		}
		run++
	}
	flush()
	return out, did
}

// most returns what was done most in a column, and in how much of it anything was done. k is the first activity that
// does not end before the column.
func (l *laner) most(k int, from, to timeline.Time) int64 {
	var took [timeline.NumCauses]Duration
	var all Duration
	for ; k < len(l.doing) && l.doing[k].From < to; k++ {
		a := &l.doing[k]
		if !l.idle(a) {
			d := min(a.To, to).Sub(max(a.From, from))
			took[a.Cause] += d
			all += d
		}
	}
	if all <= 0 {
		return 0
	}
	best := 0
	for c := range took {
		if took[c] > took[best] {
			best = c
		}
	}
	return int64(best+1)*16 + min(15, (int64(all)*16-1)/int64(to-from))
}

// idle reports whether a strand waited for work, or for an unknown reason.
func (l *laner) idle(a *timeline.Activity) bool {
	if a.Wait != timeline.None {
		return l.tl.Waits[a.Wait].Rule == timeline.RuleIdle
	}
	return a.Cause == timeline.CauseUnknown
}
