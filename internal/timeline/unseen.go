package timeline

import "github.com/getdwell/dwell/recording"

// Sets of probes of which a recording says when they were away (recording.Unseen).
const (
	UnseenLocks      = "go-locks"      // waits of goroutines for mutexes and wait groups
	UnseenConditions = "go-conditions" // for a sync.Cond
	UnseenChannels   = "go-channels"   // for channels
	UnseenPauses     = "go-pauses"     // for the collector, and stops of all goroutines
)

// unseenTimes are the spans in which sets of probes were away, in order and disjoint: by set, and by the process
// that they are on; NoProcess: on all.
type unseenTimes map[string]map[recording.ProcessID][]Interval

// AddUnseen notes until when a set of probes was away.
func (t *Timeline) AddUnseen(at Time, x *recording.Unseen) {
	if t.unseen == nil {
		t.unseen = unseenTimes{}
	}
	if t.unseen[x.What] == nil {
		t.unseen[x.What] = map[recording.ProcessID][]Interval{}
	}
	of := t.unseen[x.What]
	of[x.Process] = append(of[x.Process], Interval{From: x.From, To: at})
}

// OrderUnseen puts those times in order, once there are no more.
func (t *Timeline) OrderUnseen() {
	for _, of := range t.unseen {
		for p, list := range of {
			of[p] = merged(list)
		}
	}
}

// UnseenIn returns the spans that overlap [from, to) in which a set of probes (Unseen...)
// was away from a process: what went on then that it tells of, begun before or ended after,
// is not in the Timeline. The ends may stick out; spans may overlap. None are returned of
// what was never there, see Recorded.
func (t *Timeline) UnseenIn(what string, p recording.ProcessID, from, to Time) (out []Interval) {
	of := t.unseen[what]
	if of == nil {
		return nil
	}
	out = append(out, Clipped(of[recording.NoProcess], from, to)...)
	if p != recording.NoProcess {
		out = append(out, Clipped(of[p], from, to)...)
	}
	return out
}

// UnseenIDs is what tells which goroutine, operation of Node or context of Python something
// was done for, as Unseen names it.
const UnseenIDs = "ids"

// Idless reports that the ids of a request's runtime were not seen during it, or not all along: it
// came while they were still looked for.
func (t *Timeline) Idless(r *Request) bool {
	return len(t.UnseenIn(UnseenIDs, r.Process, r.Start, r.End)) > 0
}
