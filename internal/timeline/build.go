package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Build rebuilds what happened from a recording. It fails only if there is nothing to
// build from: no recording, or one without events.
func Build(rec *recording.Recording) (*Timeline, error) {
	if rec == nil || len(rec.Events) == 0 {
		return nil, fmt.Errorf("build timeline: %w", recording.ErrEmpty)
	}
	t := &Timeline{}
	f := collect(t, rec.Events)
	t.Truncated = t.Truncated || rec.Truncated
	t.Strands = buildStrands(f)
	t.Conns = buildConns(f)
	buildHandshakes(t, f)
	resolutions := buildLookups(t, f)
	nameConns(t, f)
	requests := buildRequests(t, f)
	calls := buildCalls(t, f)
	addGoroutines(t, f, requests, calls)
	o := buildOwners(t, f, requests)
	resolveOnThread(t, f, calls, resolutions)
	associate(t, f, calls, o)
	runs := newGoRuns(t, f)
	associateGo(t, f, runs, chainInput{calls: calls, owners: o})
	moves := loops(t, f, requests, calls)
	wanted := associateLoops(t, f, calls, moves)
	resolveElsewhere(t, f, calls, resolutions)
	turns := buildTurns(t, moves, o)
	queueCalls(t, calls, turns, wanted)
	buildSegments(t, f, segmentInput{requests: requests, calls: calls, owners: o, turns: turns, runs: runs})
	orderCalls(t)
	markLossy(t)
	return t, nil
}

// orderCalls puts the calls in order of their start and renumbers them everywhere.
func orderCalls(t *Timeline) {
	order := make([]CallID, len(t.Calls))
	for i := range order {
		order[i] = CallID(i)
	}
	slices.SortFunc(order, func(i, j CallID) int {
		a, b := &t.Calls[i], &t.Calls[j]
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	renumber := make([]CallID, len(t.Calls))
	calls := make([]Call, len(t.Calls))
	for i, k := range order {
		renumber[k], calls[i] = CallID(i), t.Calls[k]
		calls[i].ID = CallID(i)
		if r := calls[i].Request; r != None {
			t.Requests[r].Calls = append(t.Requests[r].Calls, CallID(i))
		}
	}
	if len(calls) > 0 {
		t.Calls = calls
	}
	for i := range t.Requests {
		for k := range t.Requests[i].Segments {
			if s := &t.Requests[i].Segments[k]; s.Call != None {
				s.Call = renumber[s.Call]
			}
		}
	}
}

// markLossy marks the requests during which facts were lost.
func markLossy(t *Timeline) {
	if len(t.Losses) == 0 {
		return
	}
	spans := make([]stint, 0, len(t.Losses))
	for _, l := range t.Losses {
		spans = append(spans, stint{from: l.From, to: l.To})
	}
	slices.SortFunc(spans, func(a, b stint) int { return cmp.Compare(a.from, b.from) })
	merged := spans[:1]
	for _, s := range spans[1:] {
		if last := &merged[len(merged)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		k, _ := slices.BinarySearchFunc(merged, r.Start, func(s stint, at Time) int { return cmp.Compare(s.to, at) })
		r.Lossy = k < len(merged) && merged[k].from <= r.End
	}
}
