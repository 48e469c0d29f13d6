package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func poolExhausted() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "pool-exhausted",
		Title: "Requests wait for a connection or thread of a full pool",
		Doc: "All members of the pool work for others meanwhile.\n\n" +
			"Support: the time in which a request waits for one of these:\n\n" +
			"- A connection, while as many to its peer are in use as ever are at once.\n" +
			"- A member of a pool that stack frames show (if stacks are recorded).\n" +
			"- A thread of an executor that has not begun its task.\n" +
			"- Room in a queue or a channel that is full. The thread or goroutine that takes from it counts as such a worker, whatever it does with what it takes.\n" +
			"- A task on an event loop that serves no request and makes its calls one at a time. Four fifths of an endpoint's waits must end with the answers to those calls, one with each.\n" +
			"- Threads that wait for work at one place, or processes that the service started, while all of them work for others. Their results show that: the end of a piece of work wakes the thread that waits for it.\n\n" +
			"Not this: requests that no worker of the server has read belong to accept-queue and load.\n\n" +
			"Saving: those waits are taken out of each request. Of waits for a thread that computes for others, only the part goes that idle processors could take over. We assume that the peer can serve the additional concurrent calls. If an " +
			"interpreter's lock lets one thread run at a time, waits for its threads go only for the time in which none of them runs or is ready to. If it is more, they go for as long as they exceed what requests would wait for an interpreter " +
			"that serves one after the other as they come.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Family:   familyPools,
		Test:     testPoolExhausted,
	}
}

// shortage is what requests waited for one pool.
type shortage struct {
	what  string // what is waited for: "a connection to db.test"
	name  string // of the pool
	stays []stay
	gone  []stay
	k     *contention // of a pool known by its frames, an executor or a task pool, else nil
	size  int         // members in use at once at most; 0: not known
	peer  string      // of connections, else ""
	rt    recording.Runtime

	session bool                // its connections are sessions of a database
	turns   bool                // tasks wait, but it is not known for which limit
	given   Duration            // of the waits: for a connection that was given back while others were idle, which may be another client's
	mates   []timeline.StrandID // of a task pool, whose pieces of work are not told apart: all its threads or processes
	noun    string              // what these are: threads or processes
	doubt   string              // what would decide whether more of them help; "": they would
	gate    string              // for a semaphore of the service's own: the code that takes it, with its line
}

func testPoolExhausted(c *diagnosis.Case) diagnosis.Result {
	var total Duration
	res := diagnosis.Result{Hidden: unnamedWaits(c), Lead: none(c)}
	for _, s := range shortages(c) {
		total += diagnosis.Total(spansOf(s.stays))
		res.Candidates = append(res.Candidates, s.candidate(c))
	}
	for _, task := range behindNobodies(c) {
		total += diagnosis.Total(task.Spans)
		res.Candidates = append(res.Candidates, task)
	}
	_, part := perMean(c, total)
	if total > 0 {
		res.Lead = "waiting for pools takes " + diagnosis.Percent(part) + " of all request time"
	}
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time is spent waiting for a connection or thread of a pool", part)}
	hideShared(c, &res)
	return res
}

// shortages collects the pools that requests waited for.
func shortages(c *diagnosis.Case) (out []*shortage) {
	out = fullClients(c)
	for _, k := range contentions(c, timeline.CausePool) {
		rest, rooms := fullQueues(c, k)
		for _, k := range append(rooms, rest) {
			if s := handedOver(c, k); s != nil {
				out = append(out, s)
			}
		}
	}
	out = append(out, taskPoolShortages(c)...)
	return slices.DeleteFunc(out, func(s *shortage) bool { return len(s.stays) == 0 })
}

// fullClients returns what requests waited for connections of clients that were full.
func fullClients(c *diagnosis.Case) (out []*shortage) {
	type key struct {
		process recording.ProcessID
		peer    string
	}
	of := map[key]*shortage{}
	full, on := map[key]func(diagnosis.Time) bool{}, map[turnOf]timeline.CallID{}
	for _, p := range byPeer(c) {
		k := key{p.process, p.peer}
		size := 0
		full[k], size = poolUse(c, p.calls)
		of[k] = &shortage{what: "a connection to " + p.peer, name: "connections to " + p.peer, size: size, peer: p.peer, rt: runtimeOf(c, p.process),
			session: len(p.calls) > 0 && c.Calls[p.calls[0]].Protocol.SQL()}
		out = append(out, of[k])
		for _, id := range p.calls {
			on[turnOf{c.Calls[id].Conn, c.Calls[id].Ordinal}] = id
		}
	}
	for _, s := range stays(c, timeline.CausePool, func(s *timeline.Segment) bool {
		return s.Call != timeline.None && s.Phase == timeline.PhaseQueue && !stoodBehind(c, s)
	}) {
		call := callAt(c, &s)
		if call == nil {
			continue
		}
		of[key{call.Process, call.Peer}].inTurn(c, &s, call)
		k := key{call.Process, call.Peer}
		all := full[k](s.From) || full[k](min(s.From+handedOn, s.To-1))
		if !all && givenBack(c, on, call, &s) {
			of[k].given += s.To.Sub(s.From)
			all = true
		}
		if all {
			of[k].stays, of[k].gone = append(of[k].stays, s), append(of[k].gone, s)
		}
	}
	return out
}

// handedOn is how long at most a connection that is handed from one waiting request to the next is in use by neither.
const handedOn = 1_000_000 // ns

// callAt returns the call whose wait in a queue a stay is.
func callAt(c *diagnosis.Case, s *stay) *timeline.Call {
	for g := c.Requests[s.Request].Segments(); g.Next(); {
		if g.From <= s.From && s.From < g.To && g.Call != timeline.None {
			return &c.Calls[g.Call]
		}
	}
	return nil
}

// handedOver returns the shortage of a pool known by its frames, or of an executor; nil if all its waits are in a
// server's or a client's queue.
func handedOver(c *diagnosis.Case, k *contention) *shortage {
	own := *k
	k = &own
	k.stays = slices.DeleteFunc(slices.Clone(k.stays), func(s stay) bool {
		phase, call := segmentAt(c, &s)
		// Without a call it waits behind the earlier request on its connection: its client pipelines.
		return phase == timeline.PhaseUnread || phase == timeline.PhaseQueue && (call == timeline.None || s.wait == timeline.None)
	})
	if beforeTheirCalls(c, k) {
		k.lock = timeline.None
	}
	if len(k.stays) == 0 {
		return nil
	}
	s := &shortage{what: "a member of a pool", name: k.name, stays: k.stays, k: k}
	if k.lock == timeline.None {
		s.name, s.what = namedWorkers(c, k.waiter())
	}
	if k.room != "" {
		s.name, s.what = "queue that "+k.room+" fills", fullQueue(c, k)
	}
	if w := k.waiter(); w != timeline.None {
		s.rt = runtimeOf(c, c.Strands[w].Process)
	}
	if k.lock != timeline.None { // an executor's members are its threads
		s.members(c)
		s.ownSemaphore(c)
		s.sessions(c)
	}
	left := k.again(c)
	if k.lock == timeline.None {
		left.workersDid(c)
	}
	s.gone = left.without(c)
	if k.lock == timeline.None && (s.rt == recording.RuntimePython || s.rt == recording.RuntimeRuby) {
		s.gone = besideInterpreter(c, c.Strands[k.waiter()].Process, s.gone)
	}
	return s
}

// again returns the contention of the stays that are left.
func (k *contention) again(c *diagnosis.Case) *contention {
	left := &contention{deeds: k.deeds, lock: k.lock, name: k.name, stays: k.stays}
	left.fill(c)
	return left
}

func segmentAt(c *diagnosis.Case, s *stay) (timeline.Phase, timeline.CallID) {
	for g := c.Requests[s.Request].Segments(); g.Next(); {
		if g.From <= s.From && s.From < g.To {
			return g.Phase, g.Call
		}
	}
	return timeline.PhaseHandler, timeline.None
}

// members finds out what the pool's members are: connections to the peer that the waiting strands call next.
func (s *shortage) members(c *diagnosis.Case) {
	next := tally{}
	process := recording.NoProcess
	for i := range s.stays {
		if call := calledNext(c, &s.stays[i]); call != nil {
			next[call.Peer] += s.stays[i].To.Sub(s.stays[i].From)
			process = call.Process
		}
	}
	peer, part := next.most()
	if peer == "" || part < diagnosis.Whole/2 {
		return
	}
	for _, p := range byPeer(c) {
		if p.peer == peer && p.process == process {
			s.what, s.peer = "a connection to "+peer, peer
			_, s.size = poolUse(c, p.calls)
		}
	}
}

func (s *shortage) candidate(c *diagnosis.Case) diagnosis.Candidate {
	total := diagnosis.Total(spansOf(s.stays))
	_, part := perMean(c, total)
	full, fix := "", s.fix(c)
	ev := []diagnosis.Evidence{
		whose(c, spansOf(s.stays)).inRequest("mean wait for it per request", "", total),
		diagnosis.Part("of all request time is spent waiting for it", part),
		diagnosis.Count("waits", len(s.stays)),
	}
	switch {
	case 2*s.given > total:
		full = ", each until another call gives one back"
	case s.size > 0:
		full = s.atMost()
	}
	ev = append(ev, s.sizes(c)...)
	if s.k != nil && s.k.lock != timeline.None {
		ev = append(ev, diagnosis.Count("waiters at the same time at most", s.k.queue.most))
		if s.size == 0 && s.k.known() > 0 {
			full = ", given back by " + s.k.holder(c)
		}
	}
	if from := s.waitedIn(c); from != "" {
		full += ", mostly in " + from
	}
	if what, share := s.meanwhile(c); what != "" {
		workers := s.workers()
		full += "; meanwhile " + workers + " mostly " + what
		if strings.HasPrefix(what, waitForLock) {
			fix = "first shorten that wait for the lock: more " + cmp.Or(s.noun, workerNoun(s.rt)) + " would wait for it too"
		}
		if what == waitForMore {
			fix = lingerFix
		}
		ev = append([]diagnosis.Evidence{diagnosis.Part("of that time "+workers+" "+what, share)}, ev...)
	}
	if who := s.takenFor(c); who != "" {
		full += "; as far as is known they mostly work for " + who
	}
	if s.k != nil && s.k.lock != timeline.None {
		full += s.k.usedFor(c)
	}
	place := s.name
	if s.k != nil && s.k.lock != timeline.None {
		place = s.k.place(c)
	}
	return diagnosis.Candidate{
		Place:    place,
		Title:    "Requests wait " + meanWords(c, spansOf(s.stays)) + " for " + s.what + full,
		Fix:      fix,
		Next:     "dwell show REC --slowest 3 shows the calls in flight, and how long each holds its member of the pool",
		Lead:     "waiting for " + s.what + " takes " + diagnosis.Percent(part) + " of all request time",
		Spans:    append(spansOf(s.gone), s.behind(c)...),
		Decide:   s.doubt,
		Evidence: ev,
		WhatIf:   s.station(c).whatIfs(c),
	}
}

// station returns the pool as a server, if it is known how many members it has; else nil.
func (s *shortage) station(c *diagnosis.Case) *station {
	return stationAt(c, kindPool, func(x *station) bool { return s.size > 0 && x.name == s.peer })
}

// behind returns what requests wait less for workers once the waits are gone. The strand of a wait for an executor is
// the executor's thread, which does not wait itself: it is spared nothing.
func (s *shortage) behind(c *diagnosis.Case) []diagnosis.Span {
	if s.k != nil && s.k.lock == timeline.None {
		return behindStrands(c, s.gone, nil)
	}
	return behindWorkers(c, s.gone)
}

// lookedAt is how many waits for an executor, the longest ones, are examined for what its threads do.
const lookedAt = 1000

// meanwhile says what an executor's threads mostly did while requests waited for them, and for how much of that time;
// "" if nothing stands out.
func (s *shortage) meanwhile(c *diagnosis.Case) (what string, share diagnosis.Share) {
	if s.k == nil || s.k.lock != timeline.None {
		return "", 0
	}
	return mostlyDid(c, s.stays)
}

// mostlyDid says what the strands that were waited for mostly did in the longest of these waits, and for how much of
// that time; "" if nothing stands out.
func mostlyDid(c *diagnosis.Case, waits []stay) (what string, share diagnosis.Share) {
	did := tally{}
	longest := slices.Clone(waits)
	slices.SortStableFunc(longest, func(a, b stay) int { return cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)) })
	for i := range longest[:min(len(longest), lookedAt)] {
		w := &longest[i]
		if w.strand == timeline.None {
			continue
		}
		for _, a := range c.Doing(w.strand, w.From, w.To) {
			did[doingWords(c, &a)] += a.To.Sub(a.From)
		}
	}
	if what, share = did.most(); share < diagnosis.Whole/2 {
		return "", 0
	}
	return what, share
}

// What the threads of an executor mostly do, in the words of doingWords.
const (
	doCompute   = "compute"
	waitFor     = "wait for " // a peer
	waitForLock = "wait for the lock in "
	waitForMore = "wait for the next request on connections that they have answered"
)

// doingWords says what a strand did, as a verb; "" if that is not known.
func doingWords(c *diagnosis.Case, a *timeline.Activity) string {
	switch {
	case a.Cause == timeline.CauseOnCPU || a.Cause == timeline.CauseRunnable:
		return doCompute
	case a.Call != timeline.None:
		call := &c.Calls[a.Call]
		if call.Operation == "" {
			return waitFor + call.Peer
		}
		return waitFor + call.Operation + " at " + call.Peer
	case a.Wait != timeline.None && c.Waits[a.Wait].Lock != timeline.None:
		return waitForLock + lockName(c, c.Waits[a.Wait].Lock)
	}
	if a.Lingers {
		return waitForMore
	}
	if at := site(c, a.Stack); at != "" {
		return "wait in " + at
	}
	return ""
}

// poolUse returns a function that reports whether a pool was full at a time, and how many of its connections were in
// use at once at most.
func poolUse(c *diagnosis.Case, calls []timeline.CallID) (full func(diagnosis.Time) bool, most int) {
	return poolFull(c, calls), mostAtOnce(holdings(c, calls, false))
}

// mostAtOnce returns how many of some windows are open at once at most.
func mostAtOnce(list []window) (most int) {
	open := 0
	type step struct {
		at diagnosis.Time
		by int
	}
	var steps []step
	for _, h := range list {
		steps = append(steps, step{h.from, 1}, step{h.to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	for _, s := range steps {
		open += s.by
		most = max(most, open)
	}
	return most
}
