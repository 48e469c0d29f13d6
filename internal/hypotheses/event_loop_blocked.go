package hypotheses

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func eventLoopBlocked() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "event-loop-blocked",
		Title: "A callback holds the event loop while others wait",
		Doc: "The loop turns to no other socket until the callback returns.\n\n" +
			"Support: requests and answers that wait in their sockets while the loop's thread computes, or sleeps in a call that blocks it, for at least 10 ms without turning to any other socket. If the thread waits for a peer or a timer in " +
			"that call, as a loop never should, 1 ms is enough.\n\n" +
			"Not this: waits behind many short callbacks, which are load. A long stretch of short callbacks does not count either. It shows in that what becomes ready during such stretches is nearly always turned to within an eighth of one: " +
			"the loop looks at its sockets all the while.\n\n" +
			"Saving: those waits are taken out of each request. If under a quarter of an endpoint's requests hold the loop, and others wait longer for them than they take, the callback's own time is taken out too.",
		Needs:    []string{recording.HookSched, recording.HookIO, recording.HookArrivals},
		Explains: []string{"accept-queue", "load"},
		Test:     testEventLoopBlocked,
	}
}

// hold is a stretch in which a loop ran without turning to another socket.
type hold struct {
	from, to diagnosis.Time
	cpu      Duration
	blocked  Duration            // asleep in a callback: in a call that waits, in place of the loop
	idle     Duration            // of that: for a peer or a timer, not for another thread of this process
	by       diagnosis.RequestID // the request that it last turned to, or None
}

func testEventLoopBlocked(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	var longest Duration
	var behind []diagnosis.Span
	loops := c.Loops()
	for _, loop := range loops {
		long, most := holds(c, loop)
		longest = max(longest, most)
		if len(long) > 0 {
			cd := blockedAt(c, loop, long, most)
			behind = append(behind, cd.Spans...)
			res.Candidates = append(res.Candidates, cd)
		}
	}
	res.Lead = blockedLead(c, len(loops), longest, behind)
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent waiting behind callbacks that block an event loop", diagnosis.ShareOf(int64(diagnosis.Total(behind)), int64(c.Time()))),
		diagnosis.NS("longest time that a loop turned to no other socket", longest).Against(int64(c.LongHold)),
		diagnosis.Count("event loops", len(loops)),
	}
	return res
}

func blockedLead(c *diagnosis.Case, loops int, longest Duration, behind []diagnosis.Span) string {
	switch bound := diagnosis.Human(c.LongHold); {
	case loops == 0:
		return "no thread served several requests concurrently (" + diagnosis.Plural(len(c.Overall.Requests), "request") + ")"
	case len(behind) > 0:
		return diagnosis.Percent(diagnosis.ShareOf(int64(diagnosis.Total(behind)), int64(c.Time()))) +
			" of all request time is spent waiting behind callbacks that compute for longer than " + bound + ", or sleep for a peer or a timer"
	case longest < c.LongHold:
		return "no callback blocked the loop longer than " + diagnosis.Human(longest) + " (threshold " + bound + ")"
	default:
		return "a callback blocked the loop for up to " + diagnosis.Human(longest) + ", but no request waited behind one longer than " + bound
	}
}

// turn is an instant at which a loop turned to a socket, for a request or None.
type turn struct {
	at diagnosis.Time
	of diagnosis.RequestID
}

// turns returns the instants at which a loop read or wrote something, in order.
func turns(c *diagnosis.Case, loop timeline.StrandID) []turn {
	requests, calls := 0, 0
	for i := range c.Requests {
		if c.Requests[i].Strand == loop {
			requests++
		}
	}
	for i := range c.Calls {
		if c.Calls[i].Strand == loop {
			calls++
		}
	}
	out := make([]turn, 0, 3*requests+7*calls)
	add := func(of diagnosis.RequestID, times ...diagnosis.Time) {
		for _, t := range times {
			if t != recording.NoTime {
				out = append(out, turn{t, of})
			}
		}
	}
	for i := range c.Requests {
		if r := &c.Requests[i]; r.Strand == loop {
			add(diagnosis.RequestID(i), r.FirstRead, r.FirstWrite, r.End)
		}
	}
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Strand == loop {
			add(k.Request, k.ConnectFrom, k.TLSFrom, k.TLSTo, k.SendFrom, k.Sent, k.FirstRead, k.End)
		}
	}
	slices.SortStableFunc(out, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return out
}

// took is how long a loop was held.
func (h *hold) took() Duration { return h.cpu + h.blocked }

// asleep reports whether a loop mostly slept in a hold.
func (h *hold) asleep() bool { return 2*h.blocked > h.took() }

// long reports whether a hold is a fault: it is long, or the loop waited for a peer or a timer, as a loop never should.
func (h *hold) long(c *diagnosis.Case) bool {
	return h.took() >= c.LongHold || h.idle >= milli && 2*h.idle > h.took()
}

// holds returns the long stretches of a loop, and how long the longest of all took; its callers share them.
func holds(c *diagnosis.Case, loop timeline.StrandID) (long []hold, longest Duration) {
	type found struct {
		long    []hold
		longest Duration
	}
	f := c.Once(fmt.Sprint("holds of ", loop), func() any {
		long, longest := findHolds(c, loop)
		if len(long) > 0 {
			long, longest = unyielding(c, loop, long)
		}
		return found{long, longest}
	}).(found)
	return slices.Clip(f.long), f.longest
}

func findHolds(c *diagnosis.Case, loop timeline.StrandID) (long []hold, longest Duration) {
	ts, own := turns(c, loop), c.Strands[loop].Poll
	next := 0
	h := hold{by: timeline.None}
	flush := func(at diagnosis.Time) {
		h.to = at
		longest = max(longest, h.took())
		if h.long(c) {
			long = append(long, h)
		}
		h = hold{from: at, by: timeline.None}
	}
	for _, iv := range c.Strands[loop].Intervals {
		for ; next < len(ts) && ts[next].at <= iv.From; next++ {
			flush(ts[next].at)
			h.by = ts[next].of
		}
		if iv.State != timeline.StateRunning {
			switch {
			case iv.State == timeline.StateRunnable:
			case inCallback(iv, own):
				h.blocked += iv.To.Sub(iv.From)
				if own.Syscall != "" && forNobody(c, loop, iv) {
					h.idle += iv.To.Sub(iv.From)
				}
			default:
				flush(iv.From)
				h.from = iv.To
			}
			continue
		}
		at := iv.From
		for ; next < len(ts) && ts[next].at < iv.To; next++ {
			h.cpu += ts[next].at.Sub(at)
			at = ts[next].at
			flush(at)
			h.by = ts[next].of
		}
		h.cpu += iv.To.Sub(at)
	}
	if _, last := c.Busy(); h.took() > 0 {
		flush(max(h.from, last))
	}
	return long, longest
}

// polls reports whether a system call waits for several sockets.
func polls(syscall string) bool {
	switch syscall {
	case "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6", "io_uring_enter":
		return true
	}
	return false
}

// inCallback reports whether a loop's sleep is not its wait for sockets, so that the callback goes on after it. If the
// loop was never seen to wait for its sockets, only sleeps of up to 1 ms count, outside of calls that poll.
func inCallback(iv timeline.Interval, own timeline.Poll) bool {
	switch {
	case iv.Off == nil:
		return false
	case own.Syscall == "":
		return !polls(iv.Off.Syscall) && iv.To.Sub(iv.From) <= milli
	}
	return !own.Has(iv.Off)
}

// forNobody reports whether a loop sleeps for a peer or a timer: not for a lock, another thread or a disk.
func forNobody(c *diagnosis.Case, loop timeline.StrandID, iv timeline.Interval) bool {
	if iv.State != timeline.StateSleeping {
		return false
	}
	id := c.SleepAt(loop, iv.From)
	return id == timeline.None || c.Waits[id].Cause == timeline.CauseSleep
}

func blockedAt(c *diagnosis.Case, loop timeline.StrandID, long []hold, longest Duration) diagnosis.Candidate {
	spans := waitsBehind(c, loop, long)
	if own := rareHolders(c, long); diagnosis.Total(own) <= diagnosis.Total(spans) {
		spans = append(spans, own...)
	}
	var held, blocked Duration
	by, beside := tally{}, Duration(0)
	for _, h := range long {
		held, blocked = held+h.took(), blocked+h.blocked
		if h.by == timeline.None {
			beside += h.took()
			continue
		}
		by[c.Requests[h.by].Endpoint] += h.took()
	}
	title := "Long callbacks block the event loop while other requests wait"
	switch who, _ := by.most(); {
	case who != "" && by[who] >= beside:
		title = "Long callbacks, mostly of " + who + ", block the event loop while other requests wait"
	case beside > held/2:
		title = "Long callbacks, mostly of no request (timers, background jobs), block the event loop while requests wait"
	}
	where, spare, ev := callbacks(c, loop, long, 2*blocked > held)
	title += where
	if blocked > 0 {
		ev = append(ev, diagnosis.Part("of the callbacks' time the loop sleeps in calls that block it", diagnosis.ShareOf(int64(blocked), int64(held))))
	}
	st := stationAt(c, kindLoop, func(s *station) bool { return s.loop == loop })
	return diagnosis.Candidate{
		Place:  threadName(c, loop),
		Title:  title,
		Fix:    spare(loopFix(runtimeOf(c, c.Strands[loop].Process), 2*blocked > held)),
		WhatIf: st.whatIfs(c),
		Next:   "dwell show REC --slowest 3 names the request behind which each request waits",
		Spans:  spans,
		Evidence: append([]diagnosis.Evidence{
			diagnosis.NS("longest time that the loop turned to no other socket", longest).Against(int64(c.LongHold)),
			diagnosis.Count("long callbacks", len(long)),
			diagnosis.Part("of the loop's time is spent in them", diagnosis.ShareOf(int64(held), int64(c.BusyTime()))),
		}, ev...),
	}
}

// callbacks says what a loop does in long holds: where it computes, or, if it sleeps in calls
// that block it, where it calls those.
func callbacks(c *diagnosis.Case, loop timeline.StrandID, long []hold, asleep bool) (where string, spare func(fix string) string, ev []diagnosis.Evidence) {
	spare = func(fix string) string { return fix }
	var in []sampling
	sampled := newSamples(c)
	for _, h := range long {
		if !asleep {
			sampled.in(loop, diagnosis.Span{From: h.from, To: h.to}, func(_ diagnosis.Span, stack timeline.StackID) { in = append(in, sampling{h.by, stack}) })
			continue
		}
		for _, a := range c.StacksIn(loop, h.from, h.to) {
			if a.Origin != recording.StackOnCPU {
				in = append(in, sampling{h.by, a.Stack})
			}
		}
	}
	at := spotsIn(c, in)
	most := at.first()
	switch {
	case asleep && most == nil:
		return "; they mostly sleep in calls that block the loop", spare, nil
	case asleep:
		return "; they mostly sleep in calls that block the loop, " + at.counted(c, most, "those"), spare, nil
	case most == nil:
		return "", spare, nil
	}
	where, ev = "; "+at.counted(c, most, "their time is"), at.evidence(c)
	by, makes := tellsMost(c, in, func() bool { return heldAlike(long) })
	if by != nil && by.name != most.name && len(in) >= fewSamples {
		where += ", " + diagnosis.Percent(diagnosis.ShareOf(int64(by.samples), int64(len(in)))) + " in and beneath " + by.place(c)
		if makes {
			spare = by.onceFix
		}
	}
	return where, spare, ev
}

// heldAlike reports whether a loop is held for about as long each time.
func heldAlike(long []hold) bool {
	took := make([]Duration, len(long))
	for i := range long {
		took[i] = long[i].took()
	}
	return even(took)
}
