// Package build rebuilds what happened from the facts of a recording: Recording makes a timeline.Timeline. The function
// rebuild runs these steps in order, each in a package of its own: facts are sorted by what they are about; strands,
// connections, requests and calls are made from them; rules decide which request each call belongs to, only through
// Timeline.Assign; waits get their causes and holders; and segments account for each request's time.
//
// This package owns the order of the steps. It also contains look-ups and tasks that other threads do for a loop, and
// the rules for strands that serve one request at a time (owners.go): what such a thread or goroutine sends belongs to
// its request (WhyThread, WhyGoroutine), or to none (WhyNoOwner). The remaining calls are decided, in this order, in
// handoffs (threads that work for others), gocalls (goroutines) and loopcalls (event loops).
package build

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/gocalls"
	"github.com/getdwell/dwell/internal/timeline/handoffs"
	"github.com/getdwell/dwell/internal/timeline/loopcalls"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/internal/timeline/segments"
	"github.com/getdwell/dwell/internal/timeline/waits"
	"github.com/getdwell/dwell/recording"
)

// Recording rebuilds what happened from a recording. It fails only if there is nothing to build from: no recording, or
// one without events.
func Recording(rec *recording.Recording) (*timeline.Timeline, error) {
	return By(recording.Workers{}, rec)
}

// By is Recording, but several workers do independent work in parallel.
func By(by recording.Workers, rec *recording.Recording) (*timeline.Timeline, error) {
	if rec == nil {
		return nil, fmt.Errorf("build timeline: %w", recording.ErrEmpty)
	}
	return From(by, func(each func(recording.Event)) (*recording.Recording, error) {
		for i := range rec.Events {
			each(rec.Events[i])
		}
		return rec, nil
	})
}

// From is By for events that are handed over one after another, in order, followed by the recording they belong to, as
// recording.Stream does. It keeps only what is needed of each event.
func From(by recording.Workers, events func(each func(recording.Event)) (*recording.Recording, error)) (*timeline.Timeline, error) {
	t := &timeline.Timeline{Truncated: true}
	f := facts.New(t)
	rec, err := events(f.Take)
	if err != nil {
		return nil, err
	}
	if t.Events == 0 {
		return nil, fmt.Errorf("build timeline: %w", recording.ErrEmpty)
	}
	f.Complete(rec)
	rebuild(by, t, f)
	return t, nil
}

// rebuild rebuilds what happened from facts.
func rebuild(by recording.Workers, t *timeline.Timeline, f *facts.Facts) {
	t.OrderUnseen()
	t.Strands = running.Strands(f, by)
	var sleeps *waits.Sleeps
	var resolutions []exchange.Resolution
	var requests []exchange.Request
	var calls []exchange.Call
	var gil waits.GILWords
	by.Both(func() {
		buildStacks(t, f)
		sleeps = waits.List(t, f)
	}, func() {
		gil = waits.FindGILWords(f)
		requests, resolutions = exchange.Inbound(t, f)
	})
	sleeps.Settle(by, gil)
	by.Both(sleeps.Merge, func() { calls = exchange.Outbound(t, f) })
	gocalls.AddStrands(t, f, requests, calls)
	addParkStrands(t, f)
	o := buildOwners(t, f, requests)
	exchange.ResolveOnThread(t, f, calls, resolutions)
	contexts := handoffs.PythonContexts(t, f, handoffs.Input{Requests: requests, Calls: calls})
	associate(t, f, calls, o)
	parts := handoffs.Associate(t, f, handoffs.Input{Requests: requests, Calls: calls, Owners: o, Contexts: contexts})
	runs := running.Goroutines(t, f)
	gocalls.Associate(t, f, calls, o)
	moves := loops.Gather(t, f, requests, calls)
	f.DropInbound()
	wanted := loopcalls.Associate(t, f, calls, moves)
	resolveElsewhere(t, f, calls, resolutions)
	turns := loops.Cut(t, moves, o)
	lining{t, f, calls, wanted}.lineUp(turns)
	queueCalls(t, calls, turns, wanted)
	sleeps.AddParks()
	sleeps.Assign(o, gocalls.Ancestors(t, f, o))
	t.Goroutines = gocalls.Lives(t, f, runs, calls)
	t.Goroutines.SetEnds(t, sleeps.ParkedBy)
	t.Goroutines.AddAwake(t)
	buildDatagrams(t, f, o)
	buildStorage(t, f)
	by.Both(sleeps.Finish, func() {
		t.IndexCalls()
		segments.Account(t, f, by, segments.Input{Requests: requests, Calls: calls, Owners: o, Turns: turns, Runs: runs, Parts: addHelpers(t, f, turns, parts), Hands: timeline.Hands(t), Asked: nameAskers{t, f, o, runs, facts.IndexGoroutines(t)}.list(resolutions)})
	})
	segments.KeptInSockets(t, f, requests, calls)
	t.OrderCalls()
	t.IndexCalls()
	markLossy(t)
	timeline.LeaveOutUnwatched(t)
}

// markLossy marks the requests during which facts were lost.
func markLossy(t *timeline.Timeline) {
	if len(t.Losses) == 0 {
		return
	}
	spans := make([]timeline.Stint, 0, len(t.Losses))
	for _, l := range t.Losses {
		spans = append(spans, timeline.Stint{From: l.From, To: l.To})
	}
	merged := timeline.MergeStints(spans)
	for i := range t.Requests {
		r := &t.Requests[i]
		k, _ := slices.BinarySearchFunc(merged, r.Start, func(s timeline.Stint, at recording.Time) int { return cmp.Compare(s.To, at) })
		r.Lossy = k < len(merged) && merged[k].From <= r.End
	}
}
