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

// A goroutine that serves no request may work for those that others have read: it takes a
// task from a channel and gives the result back on one. Who met whom at a channel is known
// where one of them had to wait. From taking a request's task until giving its result back,
// with nobody else met in between, it works for that request.

// meeting is when a goroutine that serves no request met one that serves one.
type meeting struct {
	at      recording.Time
	request timeline.RequestID
	gives   bool // it gave a result back; else it took a task
}

// goTasks lists, for each strand, the spans in which it worked for requests that others had
// read, in order of time and disjoint.
func goTasks(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) timeline.Stints {
	if len(f.Parks.Parks)+len(f.Parks.Unparks) == 0 {
		return nil
	}
	tasks, made := make(timeline.Stints, len(t.Strands)), goMade(t, f)
	hidden := func(p recording.ProcessID, from, to recording.Time) bool { // whom else it met then is not known
		return len(t.UnseenIn(timeline.UnseenChannels, p, from, to)) > 0
	}
	for s, list := range goMeetings(t, f, o) {
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b meeting) int { return cmp.Compare(a.at, b.at) })
		var alone causality.Tally // results after each other; odd: it made no call between
		for i := 1; i < len(list); i++ {
			if a, b := &list[i-1], &list[i]; a.gives && b.gives {
				alone.Add(!within(made[timeline.StrandID(s)], a.at, b.at))
			}
		}
		for i := 1; i < len(list); i++ {
			a, b := &list[i-1], &list[i]
			taken := !a.gives && a.request == b.request
			// What lay in the channel's buffer is taken without meeting anybody. That it was taken
			// alone is known of goroutines that make a call for each.
			only := a.gives && alone.Holds(0, causality.Usually) && within(made[timeline.StrandID(s)], a.at, b.at)
			if b.gives && a.at < b.at && (taken || only) && !hidden(t.Strands[s].Process, a.at, b.at) {
				from := max(a.at, t.Requests[b.request].FirstRead)
				tasks[s] = append(tasks[s], timeline.Stint{From: min(from, b.at), To: b.at, Request: b.request})
			}
		}
	}
	return tasks
}

// goMeetings lists the meetings of each strand.
func goMeetings(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) [][]meeting {
	of := make([][]meeting, len(t.Strands))
	index, ends, told := facts.IndexGoroutines(t), f.Unparked(), map[*recording.Unpark]bool{}
	for _, p := range f.Parks.Parks {
		if p.Reason != recording.ParkSend && p.Reason != recording.ParkReceive {
			continue
		}
		key := f.GoKeyOf(p.Left, p.Goroutine)
		u := ends.Ending(key.Process, p)
		if u == nil || t.OnStack(f.Stacks.StackIndex.Get(u.Stack), "time.sendTime") {
			continue
		}
		meet(of, o, goMeeting{index.Of(key), index.Of(timeline.GoroutineKey{Process: key.Process, Goroutine: u.Goroutine}), u.At, p.Reason == recording.ParkSend})
		told[u.Unpark] = true
	}
	for _, u := range f.Parks.Unparks { // of who waits in a select only the end is seen
		leaf := leafOf(t, f.Stacks.StackIndex.Get(u.Stack))
		if u.Woken == recording.NoGoroutine || told[u.Unpark] || leaf != goSend && leaf != goReceive || t.OnStack(f.Stacks.StackIndex.Get(u.Stack), "time.sendTime") {
			continue
		}
		key := f.GoKeyOf(u.Thread, u.Woken)
		meet(of, o, goMeeting{index.Of(key), index.Of(timeline.GoroutineKey{Process: key.Process, Goroutine: u.Goroutine}), u.At, leaf == goReceive})
	}
	return of
}

// Functions of Go's runtime in which one who does not wait hands something over, or takes
// it, from one who does.
const (
	goSend    = "runtime.send"
	goReceive = "runtime.recv"
)

// leafOf is the innermost function on a stack; "" if there is none.
func leafOf(t *timeline.Timeline, stack int) string {
	if stack < 0 || stack >= len(t.Stacks) {
		return ""
	}
	return t.Frames[t.Stacks[stack].Frame].Function
}

// goMeeting is when two goroutines met at a channel at which one of them waited.
type goMeeting struct {
	waiter, other timeline.StrandID
	at            recording.Time
	sends         bool // the waiter does
}

// meet adds a meeting of one that serves a request with one that serves none.
func meet(of [][]meeting, o timeline.Stints, m goMeeting) {
	if m.waiter == timeline.None || m.other == timeline.None || m.waiter == m.other {
		return
	}
	if r := o.At(m.waiter, m.at); r != timeline.None && len(o[m.other]) == 0 {
		of[m.other] = append(of[m.other], meeting{m.at, r, !m.sends})
	} else if r := o.At(m.other, m.at); r != timeline.None && len(o[m.waiter]) == 0 {
		of[m.waiter] = append(of[m.waiter], meeting{m.at, r, m.sends})
	}
}

// goMade lists by strand when its goroutine made calls, in order.
func goMade(t *timeline.Timeline, f *facts.Facts) map[timeline.StrandID][]recording.Time {
	made, index := map[timeline.StrandID][]recording.Time{}, facts.IndexGoroutines(t)
	for i := range f.Conns {
		for _, x := range f.Conns[i].GoCalls {
			if s := index.Of(timeline.GoroutineKey{Process: f.Conns[i].Decl.Process, Goroutine: x.GoCall.Goroutine}); s != timeline.None {
				made[s] = append(made[s], x.At)
			}
		}
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Strand != timeline.None && t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			made[c.Strand] = append(made[c.Strand], c.SendFrom)
		}
	}
	for _, list := range made {
		slices.Sort(list)
	}
	return made
}

// within reports that one of times in order lies between two.
func within(list []recording.Time, from, to recording.Time) bool {
	i := sort.Search(len(list), func(k int) bool { return list[k] > from })
	return i < len(list) && list[i] < to
}

// partsOfTasks lists the tasks that goroutines did as Parts of their requests.
func partsOfTasks(t *timeline.Timeline, tasks timeline.Stints) {
	for s, list := range tasks {
		for _, x := range list {
			r := &t.Requests[x.Request]
			if p := (timeline.Part{Strand: timeline.StrandID(s), From: max(x.From, r.FirstRead), To: min(x.To, r.End)}); p.From < p.To {
				more := r.More()
				more.Parts = append(more.Parts, p)
			}
		}
	}
	for i := range t.Requests {
		slices.SortFunc(t.Requests[i].Parts, func(a, b timeline.Part) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Strand, b.Strand))
		})
	}
}
