package gocalls

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A goroutine that serves no request may work for requests that other goroutines have read: it takes a task from a
// channel and gives the result back on one. Which two goroutines met at a channel is known if one of them had to
// wait. From taking a request's task until giving its result back, with no other meeting in between, the goroutine
// works for that request.

// meeting is when a goroutine that serves no request met one that serves a request.
type meeting struct {
	at      recording.Time
	request timeline.RequestID
	gives   bool // it gave back a result; else it took a task
}

// tasks lists, for each strand, the spans in which it worked for requests that other strands had read, in order of
// time and disjoint.
func (g *goroutines) tasks() timeline.Stints {
	if len(g.f.Parks.Parks)+len(g.f.Parks.Unparks) == 0 {
		return nil
	}
	tasks := make(timeline.Stints, len(g.t.Strands))
	for s, list := range g.meetings() {
		slices.SortStableFunc(list, func(a, b meeting) int { return cmp.Compare(a.at, b.at) })
		called := g.made[timeline.StrandID(s)]
		var between causality.Tally // pairs of consecutive results; odd: no call in between
		for i := 1; i < len(list); i++ {
			if a, b := &list[i-1], &list[i]; a.gives && b.gives {
				between.Add(!within(called, a.at, b.at))
			}
		}
		for i := 1; i < len(list); i++ {
			a, b := &list[i-1], &list[i]
			taken := !a.gives && a.request == b.request
			// A task that lay in the channel's buffer is taken without meeting anybody. That nothing else was taken
			// is known only for goroutines that make a call for each task.
			alone := a.gives && between.Holds(0, causality.Usually) && within(called, a.at, b.at)
			if !b.gives || a.at >= b.at || !taken && !alone {
				continue
			}
			if len(g.t.UnseenIn(timeline.UnseenChannels, g.t.Strands[s].Process, a.at, b.at)) > 0 {
				continue // what else it met then is not known
			}
			from := max(a.at, g.t.Requests[b.request].FirstRead)
			tasks[s] = append(tasks[s], timeline.Stint{From: min(from, b.at), To: b.at, Request: b.request})
		}
	}
	return tasks
}

// meetings lists the meetings of each strand.
func (g *goroutines) meetings() [][]meeting {
	of := make([][]meeting, len(g.t.Strands))
	ends, told := g.f.Unparked(), map[*recording.Unpark]bool{}
	for _, p := range g.f.Parks.Parks {
		if p.Reason != recording.ParkSend && p.Reason != recording.ParkReceive {
			continue
		}
		key := g.f.GoKeyOf(p.Left, p.Goroutine)
		if u := ends.Ending(key.Process, p); u != nil && !g.byTimer(*u) {
			g.meet(of, key, *u, p.Reason == recording.ParkSend)
			told[u.Unpark] = true
		}
	}
	for _, u := range g.f.Parks.Unparks { // of a wait in a select only the end is seen
		leaf := g.leafOf(u)
		if u.Woken != recording.NoGoroutine && !told[u.Unpark] && (leaf == goSend || leaf == goReceive) && !g.byTimer(u) {
			g.meet(of, g.f.GoKeyOf(u.Thread, u.Woken), u, leaf == goReceive)
		}
	}
	return of
}

// Functions of Go's runtime in which a goroutine that does not wait hands something to a waiting one, or takes it
// from it.
const (
	goSend    = "runtime.send"
	goReceive = "runtime.recv"
)

// leafOf is the innermost function on the stack with which a goroutine woke another; "" if it is not known.
func (g *goroutines) leafOf(u facts.Unpark) string {
	stack := g.f.Stacks.StackIndex.Get(u.Stack)
	if stack < 0 || stack >= len(g.t.Stacks) {
		return ""
	}
	return g.t.Frames[g.t.Stacks[stack].Frame].Function
}

// byTimer reports whether a timer ended the wait.
func (g *goroutines) byTimer(u facts.Unpark) bool {
	return g.t.OnStack(g.f.Stacks.StackIndex.Get(u.Stack), "time.sendTime")
}

// meet adds a meeting at a channel if one of the two goroutines serves a request and the other serves none: waits
// waited, to send if sends is true, and the goroutine of u woke it.
func (g *goroutines) meet(of [][]meeting, waits timeline.GoroutineKey, u facts.Unpark, sends bool) {
	waiter, other := g.strands.Of(waits), g.strands.Of(timeline.GoroutineKey{Process: waits.Process, Goroutine: u.Goroutine})
	if waiter == timeline.None || other == timeline.None || waiter == other {
		return
	}
	if r := g.owners.At(waiter, u.At); r != timeline.None && len(g.owners[other]) == 0 {
		of[other] = append(of[other], meeting{u.At, r, !sends})
	} else if r := g.owners.At(other, u.At); r != timeline.None && len(g.owners[waiter]) == 0 {
		of[waiter] = append(of[waiter], meeting{u.At, r, sends})
	}
}

// whenMade lists, by strand, when its goroutine made calls, in order.
func (g *goroutines) whenMade() map[timeline.StrandID][]recording.Time {
	made := map[timeline.StrandID][]recording.Time{}
	for i := range g.f.Conns {
		for _, x := range g.f.Conns[i].GoCalls {
			if s := g.strands.Of(timeline.GoroutineKey{Process: g.f.Conns[i].Decl.Process, Goroutine: x.GoCall.Goroutine}); s != timeline.None {
				made[s] = append(made[s], x.At)
			}
		}
	}
	for i := range g.t.Calls {
		if c := &g.t.Calls[i]; c.Strand != timeline.None && g.t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			made[c.Strand] = append(made[c.Strand], c.SendFrom)
		}
	}
	for _, list := range made {
		slices.Sort(list)
	}
	return made
}

// within reports whether one of the ordered times lies strictly between from and to.
func within(list []recording.Time, from, to recording.Time) bool {
	i := sort.Search(len(list), func(k int) bool { return list[k] > from })
	return i < len(list) && list[i] < to
}

// addParts lists the tasks that goroutines did as Parts of their requests.
func (g *goroutines) addParts() {
	for s, list := range g.worked {
		for _, x := range list {
			r := &g.t.Requests[x.Request]
			if p := (timeline.Part{Strand: timeline.StrandID(s), From: max(x.From, r.FirstRead), To: min(x.To, r.End)}); p.From < p.To {
				more := r.More()
				more.Parts = append(more.Parts, p)
			}
		}
	}
	for i := range g.t.Requests {
		slices.SortFunc(g.t.Requests[i].Parts, func(a, b timeline.Part) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Strand, b.Strand))
		})
	}
}
