package hypotheses

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func entropyWait() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "entropy-wait",
		Title: "Requests wait for random numbers",
		Doc: "The source of random numbers blocks, or a lock around it does.\n\n" +
			"Support: requests that sleep in getrandom, or in a read beneath functions that draw random numbers for secrets. Waits for a lock count too if they are beneath such functions, or if the holder sleeps so for at least half of the " +
			"time for which its activity is known.\n\n" +
			"Saving: all of that is taken out of each request, including the holder's own sleep.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"lock-convoy", "refresh-under-lock", "pool-exhausted", "accept-queue", "load"},
		Family:   familyLocks,
		Test:     testEntropyWait,
	}
}

// entropy describes what requests waited for random numbers.
type entropy struct {
	asleep []diagnosis.Span // for the source itself
	queued []stay           // for a lock around it
	spans  []diagnosis.Span // what would be saved
	sites  tally
	locks  []*contention
}

func testEntropyWait(c *diagnosis.Case) diagnosis.Result {
	d := newDeeds(c)
	e := entropy{sites: tally{}}
	e.source(c, d)
	for _, k := range contentions(c, timeline.CauseLock) {
		if 2*k.drawing < k.total && !k.mostly(deedEntropy) {
			continue
		}
		e.locks = append(e.locks, k)
		e.asleep = append(e.asleep, ownTime(c, k.done(deedEntropy), func(*timeline.Request, *deed) bool { return true })...)
		e.queued = append(e.queued, k.stays...)
		gone := k.without(c)
		if k.mostly(deedEntropy) {
			gone = k.spareOf(c, deedEntropy)
		}
		e.spans = append(append(e.spans, spansOf(gone)...), k.queues(c, gone)...)
		for i := range k.stays {
			e.sites[siteOf(c, &k.stays[i])] += k.stays[i].To.Sub(k.stays[i].From)
		}
	}
	e.asleep = c.Merged(e.asleep)
	e.spans = append(e.spans, e.asleep...)
	total := diagnosis.Total(e.asleep) + diagnosis.Total(spansOf(e.queued))
	res := diagnosis.Result{Hidden: e.unseen(c), Lead: none(c), Evidence: e.evidence(c, total)}
	if total > 0 {
		_, share := perMean(c, total)
		res.Lead = "waiting for random numbers takes " + diagnosis.Percent(share) + " of all request time"
		res.Candidates = []diagnosis.Candidate{e.candidate(c, total)}
	}
	return res
}

// drawn is a sleep of a strand for random numbers.
type drawn struct {
	from, to diagnosis.Time
	stack    timeline.StackID
}

// source collects the time in which requests' strands slept for the source of random
// numbers itself.
func (e *entropy) source(c *diagnosis.Case, d *deeds) {
	of := map[timeline.StrandID][]drawn{}
	for i := range c.Strands {
		s := &c.Strands[i]
		if slices.ContainsFunc(s.Stacks, func(a timeline.StackAt) bool { return d.draws(a.Stack) }) ||
			slices.ContainsFunc(s.Intervals, func(iv timeline.Interval) bool { return iv.Off != nil && iv.Off.Syscall == "getrandom" }) {
			of[timeline.StrandID(i)] = drawnBy(c, d, timeline.StrandID(i))
		}
	}
	if len(of) == 0 {
		return
	}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for s := r.Segments(); s.Next(); {
			if s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CauseRunnable {
				continue
			}
			list := of[s.Strand]
			k := sort.Search(len(list), func(k int) bool { return list[k].to > s.From })
			for ; k < len(list) && list[k].from < s.To; k++ {
				from, to := max(list[k].from, s.From), min(list[k].to, s.To)
				e.asleep = append(e.asleep, diagnosis.Span{Request: id, From: from, To: to})
				e.sites[site(c, list[k].stack)] += to.Sub(from)
			}
		}
	}
}

// drawnBy returns a strand's sleeps for random numbers, in order of time. It is called once for each strand, because
// many requests may wait through one sleep.
func drawnBy(c *diagnosis.Case, d *deeds, s timeline.StrandID) (out []drawn) {
	const step = diagnosis.Time(1_000_000_000) // in a longer span it may have done very many things
	for from := c.Start; from < c.End; from += step {
		for _, a := range c.Doing(s, from, min(from+step, c.End)) {
			if d.kind(&a) == deedEntropy {
				out = append(out, drawn{a.From, a.To, a.Stack})
			}
		}
	}
	return out
}

// unseen returns the waits that may be for random numbers: those of unknown cause, and without stacks also those for
// locks and for files.
func (e *entropy) unseen(c *diagnosis.Case) []diagnosis.Span {
	out := unnamedWaits(c)
	if c.Recorded(recording.HookStacks) {
		return out
	}
	return append(out, c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool {
		return s.Cause == timeline.CauseLock || s.Cause == timeline.CauseIPC
	})...)
}

func (e *entropy) evidence(c *diagnosis.Case, total Duration) []diagnosis.Evidence {
	_, share := perMean(c, total)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent waiting for random numbers", share),
		whose(c, slices.Concat(e.asleep, spansOf(e.queued))).inRequest("mean per request", "", total),
		diagnosis.Part("of it is spent waiting for a lock around their source", diagnosis.ShareOf(int64(total-diagnosis.Total(e.asleep)), int64(total))),
		diagnosis.Count("sleeps of requests in the source itself", len(e.asleep)),
	}
	if len(e.locks) > 0 {
		ev = append(ev, e.locks[0].evidence(c)[2:]...)
	}
	return ev
}

func (e *entropy) candidate(c *diagnosis.Case, total Duration) diagnosis.Candidate {
	at, _ := e.sites.most()
	place, from, queue := at, "", ""
	if at != "" {
		from = ", drawn in " + at
	} else {
		place = "the source of random numbers"
	}
	rt := recording.RuntimeNative
	if len(e.locks) > 0 {
		k := e.locks[0]
		rt = runtimeOf(c, k.process(c))
		queue = "; they queue for " + k.named(c) + ", held by " + k.holder(c)
		if k.mostly(deedEntropy) {
			queue += " that sleeps in the source"
		}
	}
	behind := ""
	if all := diagnosis.Total(c.Merged(e.spans)); all > 2*total {
		behind = ", and " + whose(c, e.spans).words(all-total) + " behind threads that wait for them"
	}
	return diagnosis.Candidate{
		Place:    place,
		Title:    "Requests wait " + meanWords(c, e.asleep, spansOf(e.queued)) + " for random numbers" + behind + from + queue,
		Fix:      entropyFix(rt),
		Next:     "dwell threads REC shows who waits for whom at any time",
		Spans:    e.spans,
		Evidence: e.evidence(c, total),
	}
}

func entropyFix(rt recording.Runtime) string {
	if rt == recording.RuntimeJVM {
		return "draw from a source that does not block: -Djava.security.egd=file:/dev/./urandom, or SecureRandom.getInstance(\"DRBG\"), one per thread; ids that guard nothing can use ThreadLocalRandom"
	}
	return "draw from a source that does not block (/dev/urandom, getrandom without GRND_RANDOM), draw more bytes per call, or keep a generator per thread; ids that guard nothing need no secret numbers"
}
