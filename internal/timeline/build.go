package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Build rebuilds what happened from a recording. It fails only if there is nothing to
// build from: no recording, or one without events.
func Build(rec *recording.Recording) (*Timeline, error) { return BuildBy(recording.Workers{}, rec) }

// BuildBy is Build, with what does not depend on each other done by several workers.
func BuildBy(by recording.Workers, rec *recording.Recording) (*Timeline, error) {
	if rec == nil {
		return nil, fmt.Errorf("build timeline: %w", recording.ErrEmpty)
	}
	return BuildFrom(by, func(each func(recording.Event)) (*recording.Recording, error) {
		for i := range rec.Events {
			each(rec.Events[i])
		}
		return rec, nil
	})
}

// BuildFrom is BuildBy of events that are handed over one after another, in their order, and then
// the recording that they are of, as recording.Stream does: of each only what is needed is kept.
func BuildFrom(by recording.Workers, events func(each func(recording.Event)) (*recording.Recording, error)) (*Timeline, error) {
	t := &Timeline{Truncated: true}
	f := newFacts(t)
	rec, err := events(f.take)
	if err != nil {
		return nil, err
	}
	if t.Events == 0 {
		return nil, fmt.Errorf("build timeline: %w", recording.ErrEmpty)
	}
	f.complete(rec)
	t.build(by, f)
	return t, nil
}

// build rebuilds what happened from facts.
func (t *Timeline) build(by recording.Workers, f *facts) {
	t.unseen.order()
	t.Strands = buildStrands(f, by)
	var waits *sleeper
	var resolutions []resolution
	var requests []served
	var calls []made
	var gil gilWords
	by.Both(func() {
		buildStacks(t, f)
		waits = listSleeps(t, f)
	}, func() {
		gil = findGilWords(f)
		t.Conns = buildConns(f)
		buildHandshakes(t, f)
		resolutions = buildLookups(t, f)
		nameConns(t, f)
		requests = buildRequests(t, f)
	})
	waits.settle(by, gil)
	by.Both(waits.merge, func() { calls = buildCalls(t, f) })
	addGoroutines(t, f, requests, calls)
	addParkStrands(t, f)
	o := buildOwners(t, f, requests)
	resolveOnThread(t, f, calls, resolutions)
	contexts := associateContexts(t, f, segmentInput{requests: requests, calls: calls})
	associate(t, f, calls, o)
	parts := associateHandOffs(t, f, segmentInput{requests: requests, calls: calls, owners: o, contexts: contexts})
	runs := newGoRuns(t, f)
	tasks := goTasks(t, f, o)
	associateGo(t, f, goInput{calls: calls, owners: o, tasks: tasks})
	partsOfTasks(t, tasks)
	moves := loops(t, f, requests, calls)
	f.dropInbound()
	wanted := associateLoops(t, f, calls, moves)
	resolveElsewhere(t, f, calls, resolutions)
	turns := buildTurns(t, moves, o)
	queueCalls(t, f, segmentInput{calls: calls, turns: turns}, wanted)
	answerDatagrams(t, f, calls, turns) // of a socket of UDP none is in use
	waits.addParks()
	waits.assign(o)
	queueGo(t, calls, runs)
	t.golang = newGoLives(t, f, runs, calls)
	t.golang.ending(t, waits.parkedBy)
	t.golang.addAwake(t)
	buildDatagrams(t, f, o)
	buildStorage(t, f)
	by.Both(waits.finish, func() {
		indexCalls(t)
		buildSegments(t, f, by, segmentInput{requests: requests, calls: calls, owners: o, turns: turns, runs: runs, parts: addHelpers(t, f, turns, parts), hands: hands(t), asked: nameAskers{t, f, o, runs, indexGoroutines(t)}.list(resolutions)})
	})
	keptInSockets(t, f, requests, calls)
	orderCalls(t)
	indexCalls(t)
	markLossy(t)
}

// orderCalls puts the calls in order of their start and renumbers them everywhere.
func orderCalls(t *Timeline) {
	calls := t.Calls
	sortCalls(calls)
	renumber := make([]CallID, len(calls))
	counts := make([]int32, len(t.Requests))
	for i := range calls {
		renumber[calls[i].ID] = CallID(i)
		calls[i].ID = CallID(i)
		if r := calls[i].Request; r != None {
			counts[r]++
		}
	}
	for i := range calls {
		if b := calls[i].Behind; b != None {
			calls[i].Behind = renumber[b]
		}
	}
	t.golang.renumber(t, renumber)
	t.overruled = t.overruled.renumber(renumber)
	of := lists[CallID](counts)
	for i := range calls {
		if r := calls[i].Request; r != None {
			of[r] = append(of[r], CallID(i))
		}
	}
	for i, list := range of {
		if len(list) > 0 {
			t.Requests[i].more().Calls = list
		}
	}
	changeCalled(t, func(s *Segment) { s.Call = renumber[s.Call] })
}

// sortCalls orders calls by their start; those of equal start by connection and ordinal.
func sortCalls(calls []Call) {
	sortByTime(calls, func(c *Call) Time { return c.Start })
	for i := 0; i < len(calls); {
		k := i + 1
		for k < len(calls) && calls[k].Start == calls[i].Start {
			k++
		}
		if k > i+1 {
			slices.SortFunc(calls[i:k], func(a, b Call) int {
				return cmp.Or(cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Ordinal, b.Ordinal))
			})
		}
		i = k
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
	merged := mergeSpans(spans)
	for i := range t.Requests {
		r := &t.Requests[i]
		k, _ := slices.BinarySearchFunc(merged, r.Start, func(s stint, at Time) int { return cmp.Compare(s.to, at) })
		r.Lossy = k < len(merged) && merged[k].from <= r.End
	}
}
