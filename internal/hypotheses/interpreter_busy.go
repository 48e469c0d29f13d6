package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// besideInterpreter returns, of waits for the threads of a process with an interpreter's lock, what would go if there
// were more threads. Of each wait, from its beginning, it is as much as none of the process's threads ran or was ready
// to. In the rest another thread would have had to wait for the interpreter, or with it for a processor. If it is more,
// it is what requests wait longer than they would for an interpreter that serves them one after the other as they come.
func besideInterpreter(c *diagnosis.Case, p recording.ProcessID, list []stay) []stay {
	ran := c.ThreadsIn(map[recording.ProcessID]bool{p: true}, func(s timeline.State) bool { return s == timeline.StateRunning || s == timeline.StateRunnable })[p]
	idle, all := map[diagnosis.RequestID]Duration{}, map[diagnosis.RequestID]Duration{}
	out := whileIdle(ran, list)
	for i := range out {
		idle[out[i].Request] += out[i].To.Sub(out[i].From)
	}
	for i := range list {
		all[list[i].Request] += list[i].To.Sub(list[i].From)
	}
	behind := interpretedInTurn(c, p, ran)
	spare := map[diagnosis.RequestID]Duration{}
	for r, d := range all {
		if wait, ok := behind[r]; ok && d-wait > idle[r] {
			spare[r] = d - wait
		}
	}
	out = slices.DeleteFunc(out, func(s stay) bool { return spare[s.Request] > 0 })
	for _, s := range list {
		if d := min(spare[s.Request], s.To.Sub(s.From)); d > 0 {
			spare[s.Request] -= d
			s.To = s.From + diagnosis.Time(d)
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b stay) int { return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From)) })
	return out
}

// interpretedInTurn returns what each request of a process would wait for its interpreter, if that served requests one
// after the other in the order in which they came. The time in which threads ran or were ready to is divided among
// requests in proportion to what each computes.
func interpretedInTurn(c *diagnosis.Case, p recording.ProcessID, ran []timeline.Interval) map[diagnosis.RequestID]Duration {
	var ids []diagnosis.RequestID
	for i := range c.Requests {
		if c.Requests[i].Process == p {
			ids = append(ids, c.Requests[i].ID)
		}
	}
	slices.SortStableFunc(ids, func(a, b diagnosis.RequestID) int { return cmp.Compare(c.Requests[a].Start, c.Requests[b].Start) })
	jobs := make([]queueing.Job, 0, len(ids))
	var busy, computed Duration
	for _, id := range ids {
		r := &c.Requests[id]
		j := queueing.Job{Arrive: r.Start}
		for g := r.Segments(); g.Next(); {
			if g.Cause == timeline.CauseOnCPU {
				j.Service += g.To.Sub(g.From)
			}
		}
		computed += j.Service
		jobs = append(jobs, j)
	}
	for _, iv := range ran {
		busy += iv.To.Sub(iv.From)
	}
	out := map[diagnosis.RequestID]Duration{}
	if computed == 0 {
		return out
	}
	more := queueing.RatioOf(busy, computed)
	for i := range jobs {
		jobs[i].Service = more.Of(jobs[i].Service)
	}
	for i, wait := range queueing.Waits(jobs, 1) {
		out[ids[i]] = wait
	}
	return out
}

// whileIdle returns of each wait, from its beginning, as much as no thread ran.
func whileIdle(ran []timeline.Interval, list []stay) (out []stay) {
	for _, s := range list {
		idle := s.To.Sub(s.From)
		i, _ := slices.BinarySearchFunc(ran, s.From+1, func(w timeline.Interval, t diagnosis.Time) int { return cmp.Compare(w.To, t) })
		for ; i < len(ran) && ran[i].From < s.To; i++ {
			idle -= min(s.To, ran[i].To).Sub(max(s.From, ran[i].From))
		}
		if s.To = s.From + diagnosis.Time(idle); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}
