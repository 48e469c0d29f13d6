package loops

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Turns are the turns of all loops, for each request in order of time.
type Turns struct {
	All []Turn
	Of  [][]int32 // by request: indexes in all

	Wander map[recording.ProcessID]bool // whose threads share tasks
}

// Cut cuts what the loops did into turns, and tells owners about them.
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
	l.Of = lists.Grouped[int32](len(t.Requests), len(l.All), func(i int) int { return int(l.All[i].Request) })
	for _, of := range l.Of {
		l.inOrder(of)
	}
	l.addAnswers(t)
	return l
}

// inOrder sorts indexes of turns by when those began.
func (l *Turns) inOrder(of []int32) {
	slices.SortStableFunc(of, func(a, b int32) int { return cmp.Compare(l.All[a].From, l.All[b].From) })
}

// addAnswers adds turns for answers that were read together with another's, as on a
// connection that requests share: what the loop read it read for the first.
func (l *Turns) addAnswers(t *timeline.Timeline) {
	calls := CallsByRequest(t)
	for r := range t.Requests {
		of := l.Of[r]
		for _, id := range calls[r] {
			c := &t.Calls[id]
			if c.Strand == timeline.None || c.FirstRead == recording.NoTime || !t.Strands[c.Strand].Loop || t.Requests[r].Strand != c.Strand {
				continue
			}
			n := sort.Search(len(l.Of[r]), func(k int) bool { return l.All[l.Of[r][k]].From > c.FirstRead })
			if n > 0 && l.All[l.Of[r][n-1]].Last >= c.FirstRead {
				continue
			}
			of = append(of, int32(len(l.All)))
			l.All = append(l.All, Turn{From: c.FirstRead, To: c.FirstRead, Last: c.FirstRead, Request: c.Request, Strand: c.Strand, How: ResumeCall, Ready: c.Arrived, Call: id})
		}
		if len(of) > len(l.Of[r]) {
			l.inOrder(of)
			l.Of[r] = of
		}
	}
}

// Asking returns the turn in which a request asked for something at or after since:
// its first turn that was not over by then; nil if there is none.
func (l *Turns) Asking(r timeline.RequestID, since recording.Time) *Turn {
	of := l.Of[r]
	i := sort.Search(len(of), func(k int) bool { return l.All[of[k]].To >= since })
	if i == len(of) {
		return nil
	}
	return &l.All[of[i]]
}

// IdleSince is when the last turn of a call's request ended before that in which it was sent.
func (l *Turns) IdleSince(c *timeline.Call) recording.Time {
	since := recording.NoTime
	for _, i := range l.Of[c.Request] {
		u := &l.All[i]
		if u.From >= c.SendFrom || u.Call == c.ID || u.To >= c.SendFrom {
			break
		}
		since = u.To
	}
	return since
}
