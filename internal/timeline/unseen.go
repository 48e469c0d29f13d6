package timeline

import "github.com/getdwell/dwell/recording"

// Sets of probes whose absence a recording reports (recording.Unseen).
const (
	UnseenLocks      = "go-locks"      // waits of goroutines for mutexes and wait groups
	UnseenConditions = "go-conditions" // for a sync.Cond
	UnseenChannels   = "go-channels"   // for channels
	UnseenPauses     = "go-pauses"     // for the collector, and stops of all goroutines
)

// unseenTimes holds the spans in which sets of probes were absent.
type unseenTimes struct {
	away    map[string]map[recording.ProcessID][]Interval // in order and disjoint: by set, and by the process that the probes observe; NoProcess: all processes
	leftOut map[string]string                             // by endpoint: the set whose absence is why some of its requests are left out
}

// in reports whether a set was absent from a process at some time in [from, to).
func (u *unseenTimes) in(what string, p recording.ProcessID, from, to Time) bool {
	of := u.away[what]
	return len(Clipped(of[recording.NoProcess], from, to)) > 0 || p != recording.NoProcess && len(Clipped(of[p], from, to)) > 0
}

// AddUnseen notes that a set of probes was absent, and until when.
func (t *Timeline) AddUnseen(at Time, x *recording.Unseen) {
	if t.unseen.away == nil {
		t.unseen.away = map[string]map[recording.ProcessID][]Interval{}
	}
	of := t.unseen.away[x.What]
	if of == nil {
		of = map[recording.ProcessID][]Interval{}
		t.unseen.away[x.What] = of
	}
	of[x.Process] = append(of[x.Process], Interval{From: x.From, To: at})
}

// OrderUnseen sorts and merges those spans, after the last AddUnseen.
func (t *Timeline) OrderUnseen() {
	for _, of := range t.unseen.away {
		for p, list := range of {
			of[p] = merged(list)
		}
	}
}

// UnseenIn returns the spans that overlap [from, to) in which a set of probes (Unseen...) was absent from a process.
// What the probes would have reported is missing from the Timeline if it began or ended in such a span. The ends may
// lie outside [from, to), and spans may overlap. For a set that never was present, UnseenIn returns nothing: see
// Recorded.
func (t *Timeline) UnseenIn(what string, p recording.ProcessID, from, to Time) (out []Interval) {
	of := t.unseen.away[what]
	if of == nil {
		return nil
	}
	out = append(out, Clipped(of[recording.NoProcess], from, to)...)
	if p != recording.NoProcess {
		out = append(out, Clipped(of[p], from, to)...)
	}
	return out
}

// UnseenIDs is the set, as Unseen names it, of the ids that show on whose behalf things were done: goroutines,
// operations of Node, contexts of Python.
const UnseenIDs = "ids"

// Idless reports whether the ids of a request's runtime were missing during some or all of the request: it arrived
// while dwell was still looking for them.
func (t *Timeline) Idless(r *Request) bool {
	return t.unseen.in(UnseenIDs, r.Process, r.Start, r.End)
}
