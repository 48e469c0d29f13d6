package loops

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Turns holds the turns of all loops.
type Turns struct {
	All []Turn
	of  lists.Groups[int32] // by request: indexes in All, in order of time

	Wander map[recording.ProcessID]bool // processes whose threads share tasks
}

// Cut cuts what the loops did into turns, and enters the turns into o as stints of their requests.
func Cut(t *timeline.Timeline, moves []Loop, o timeline.Stints) *Turns {
	l := &Turns{Wander: map[recording.ProcessID]bool{}}
	if len(moves) > 0 {
		l.All = make([]Turn, 0, len(t.Requests)+len(t.Calls))
	}
	for _, loop := range moves {
		if loop.Wander {
			l.Wander[t.Strands[loop.Strand].Process] = true
		}
		if len(loop.Moves) == 0 {
			continue
		}
		before := len(l.All)
		l.All = appendTurns(l.All, t, loop)
		turns := l.All[before:]
		list := make([]timeline.Stint, 0, len(turns))
		for k := range turns {
			if u := &turns[k]; u.From < u.To {
				list = append(list, timeline.Stint{From: u.From, To: u.To, Request: u.Request})
			}
		}
		o[loop.Strand] = list
	}
	l.group(t)
	if all := len(l.All); l.addAnswers(t) > all {
		l.group(t)
	}
	return l
}

// Of returns the indexes of a request's turns, in order of time.
func (l *Turns) Of(r timeline.RequestID) []int32 { return l.of.Of(int(r)) }

// group lists the turns of each request.
func (l *Turns) group(t *timeline.Timeline) {
	l.of = lists.Grouped[int32](len(t.Requests), len(l.All), func(i int) int { return int(l.All[i].Request) })
	for r := range t.Requests {
		slices.SortStableFunc(l.of.Of(r), func(a, b int32) int { return cmp.Compare(l.All[a].From, l.All[b].From) })
	}
}

// addAnswers adds a turn for each answer that was read together with another request's, as on a connection that
// requests share: the read itself counts for the first of them. It returns how many turns there are then.
func (l *Turns) addAnswers(t *timeline.Timeline) int {
	calls := CallsByRequest(t)
	for r := range t.Requests {
		of := l.of.Of(r)
		for _, id := range calls.Of(r) {
			c := &t.Calls[id]
			if c.Strand == timeline.None || c.FirstRead == recording.NoTime || !t.Strands[c.Strand].Loop || t.Requests[r].Strand != c.Strand {
				continue
			}
			n := sort.Search(len(of), func(k int) bool { return l.All[of[k]].From > c.FirstRead })
			if n > 0 && l.All[of[n-1]].Last >= c.FirstRead {
				continue
			}
			l.All = append(l.All, Turn{From: c.FirstRead, To: c.FirstRead, Last: c.FirstRead, Request: c.Request, Strand: c.Strand, How: ResumeCall, Ready: c.Arrived, Call: id})
		}
	}
	return len(l.All)
}

// Asking returns the turn in which a request asked for something at or after since: its first turn that was not over
// by then; nil if there is none.
func (l *Turns) Asking(r timeline.RequestID, since recording.Time) *Turn {
	of := l.Of(r)
	i := sort.Search(len(of), func(k int) bool { return l.All[of[k]].To >= since })
	if i == len(of) {
		return nil
	}
	return &l.All[of[i]]
}

// IdleSince is when the last turn of a call's request ended before the turn in which the call was sent.
func (l *Turns) IdleSince(c *timeline.Call) recording.Time {
	since := recording.NoTime
	for _, i := range l.Of(c.Request) {
		u := &l.All[i]
		if u.From >= c.SendFrom || u.Call == c.ID || u.To >= c.SendFrom {
			break
		}
		since = u.To
	}
	return since
}
