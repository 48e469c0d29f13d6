package hypotheses

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
)

// behindComputing returns the part of requests' waits for a processor in which every processor of the host computed for
// requests. Those waits are for each other's work, and go with it. Its callers share it.
func behindComputing(c *diagnosis.Case) []diagnosis.Span {
	return slices.Clip(c.Once("behind computing", func() any { return findBehindComputing(c) }).([]diagnosis.Span))
}

func findBehindComputing(c *diagnosis.Case) []diagnosis.Span {
	if diagnosis.ShareOf(int64(diagnosis.Total(c.Ready())), int64(c.Time())) < c.Worth {
		return nil
	}
	full := allAtOnce(ownSpans(c), int(max(1, c.Manifest.CPUs)))
	spans := make([]diagnosis.Span, len(full))
	for i, w := range full {
		spans[i] = diagnosis.Span{From: w.from, To: w.to}
	}
	computing := sumOf(spans)
	var out []diagnosis.Span
	for _, w := range c.Ready() {
		out = append(out, computing.in(w)...)
	}
	return out
}

// queueFirst reports whether requests' waits for processors that compute for others are worth having and do not follow
// from what requests compute. They do not follow if half of that work saves less by itself than by the waits that go
// with it. Without a replay that tells how much of the waits goes, they do not follow if half of the work is less than
// all of the waits.
func queueFirst(c *diagnosis.Case) bool {
	behind := diagnosis.Total(behindComputing(c))
	if diagnosis.ShareOf(int64(behind), int64(c.Time())) < c.Worth {
		return false
	}
	if s := stationAt(c, kindProcessors, func(*station) bool { return true }); s != nil && s.fits() {
		return !s.follows()
	}
	return 2*behind > diagnosis.Total(ownSpans(c))
}

// behindComputingLoops returns how long requests wait for event loops that compute for others meanwhile. Waits while a
// loop sleeps in calls that block it are left out. Of the rest it takes the share of the loop's CPU time that is
// requests' own.
func behindComputingLoops(c *diagnosis.Case) (all Duration) {
	own, waits := make([]Duration, len(c.Strands)), make([]Duration, len(c.Strands))
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for g := r.Segments(); g.Next(); {
			loop := g.Strand
			if loop == timeline.None {
				loop = r.Strand // it is not read yet
			}
			switch {
			case loop == timeline.None:
			case ownCPU(&g.Segment):
				own[loop] += g.To.Sub(g.From)
			case waitsFor(&g.Segment, loop) && g.Cause != timeline.CauseRunnable: // the loop has no processor then
				waits[loop] += g.To.Sub(g.From)
			}
		}
	}
	from, to := c.Busy()
	for _, loop := range c.Loops() {
		long, _ := holds(c, loop)
		asleep := slices.DeleteFunc(slices.Clone(long), func(h hold) bool { return !h.asleep() })
		computing := max(0, waits[loop]-diagnosis.Total(waitsBehind(c, loop, asleep)))
		all += diagnosis.ShareOf(int64(own[loop]), int64(c.Running(loop, from, to))).Of(computing)
	}
	return all
}

// allAtOnce returns the times, in order and disjoint, in which at least n spans were under way.
func allAtOnce(spans []diagnosis.Span, n int) (out []window) {
	starts, ends := make([]diagnosis.Time, len(spans)), make([]diagnosis.Time, len(spans))
	for i, s := range spans {
		starts[i], ends[i] = s.From, s.To
	}
	slices.Sort(starts)
	slices.Sort(ends)
	for i, k := 0, 0; i < len(starts); {
		if starts[i] < ends[k] {
			if i++; i-k == n {
				out = append(out, window{from: starts[i-1]})
			}
			continue
		}
		if i-k == n {
			out[len(out)-1].to = ends[k]
		}
		k++
	}
	if last := len(out) - 1; last >= 0 && out[last].to == 0 { // no span begins after it
		out[last].to = ends[len(ends)-n]
	}
	return out
}

// settled makes a hypothesis count only what its candidates really save. Requests that no longer wait for one thing
// come to the processors sooner, and may wait longer there: see docs/decisions/0026.
func settled(h diagnosis.Hypothesis) diagnosis.Hypothesis {
	test := h.Test
	h.Test = func(c *diagnosis.Case) diagnosis.Result {
		res := test(c)
		for i := range res.Candidates {
			cd := &res.Candidates[i]
			left := atProcessors(c, cd.Spans)
			if k := len(c.Requests); k > mostReplayed && diagnosis.Total(left) < diagnosis.Total(cd.Spans) {
				cd.Evidence = append(cd.Evidence, diagnosis.Count("requests, of "+strconv.Itoa(stretchCount)+" stretches, were replayed at the processors for all", mostReplayed))
			}
			cd.Spans = left
		}
		return res
	}
	return h
}

// At most so many requests are replayed at the processors; if there are more, so many stretches of them. Otherwise the
// replay would take most of the analysis of a long recording.
const (
	mostReplayed = 1 << 16
	stretchCount = 16
)

// stretch is a run of requests that came one after another, without the one at to.
type stretch struct{ from, to diagnosis.RequestID }

// stretches returns the requests that are replayed. If all are too many, it is an equally long stretch in each part of
// them, at multiples of the golden ratio, which are in step with nothing.
func stretches(requests int) (out []stretch) {
	if requests <= mostReplayed {
		return []stretch{{0, diagnosis.RequestID(requests)}}
	}
	const long, golden = mostReplayed / stretchCount, 633 // of 1024
	part := requests / stretchCount
	for k := range stretchCount {
		at := k*part + (part-long)*((k+1)*golden%1024)/1024
		out = append(out, stretch{diagnosis.RequestID(at), diagnosis.RequestID(at + long)})
	}
	return out
}

// time returns when these requests came, as far as requests are measured.
func (x stretch) time(c *diagnosis.Case) window {
	from, to := c.Busy()
	if x.from > 0 {
		from = max(from, c.Requests[x.from].Start)
	}
	if int(x.to) < len(c.Requests) {
		to = min(to, c.Requests[x.to].Start)
	}
	return window{from, to}
}

// crowd is the host's processors as a server, with a model that reproduces what requests waited for them.
type crowd struct {
	queueing.Server
	ids              []diagnosis.RequestID // by customer; None: work beside requests
	waited, replayed Duration              // by requests, as recorded and in the unchanged replay
}

// matters is the share of their time that requests must wait for processors before it matters when they come there.
const matters = diagnosis.Whole / 50

// crowdOf returns the crowd of a case; nil if requests hardly wait for processors, or if the replay does not reproduce
// the waits. Its callers share it.
func crowdOf(c *diagnosis.Case) *crowd {
	return c.Shared("crowd", func() any {
		if diagnosis.ShareOf(int64(diagnosis.Total(c.Ready())), int64(c.Time())) < matters {
			return (*crowd)(nil)
		}
		k := &crowd{Server: hostProcessors(c)}
		k.come(c)
		for _, slice := range []Duration{k.Slice, 0} {
			k.Slice = slice
			if p := k.Play(queueing.Change{}); k.Fit(p).Good() {
				k.waited, k.replayed = k.recorded(), k.sum(p.Waited)
				return k
			}
		}
		return (*crowd)(nil)
	}).(*crowd)
}

// come adds the requests that are replayed, and what threads ran beside them meanwhile.
func (k *crowd) come(c *diagnosis.Case) {
	taken, list := map[timeline.StrandID][]window{}, stretches(len(c.Requests))
	for _, x := range list {
		for id := x.from; id < x.to; id++ {
			r := &c.Requests[id]
			t := tourOf(r, atProcessor, true, nil)
			if len(t.visits) == 0 && !r.Measured() {
				continue
			}
			if len(t.works) > 0 {
				takenBy(r, taken)
			}
			k.Customers, k.ids = append(k.Customers, customer(r, t)), append(k.ids, id)
		}
	}
	for _, x := range list {
		for _, w := range ranBeside(c, threads(c), taken, x.time(c)) {
			k.Customers, k.ids = append(k.Customers, passing(w)), append(k.ids, timeline.None)
		}
	}
}

// sum adds up a value of each customer over the requests.
func (k *crowd) sum(each []Duration) (sum Duration) {
	for i := range k.Customers {
		if !k.Customers[i].Beside {
			sum += each[i]
		}
	}
	return sum
}

// recorded returns what requests waited in the recording.
func (k *crowd) recorded() Duration {
	each := make([]Duration, len(k.Customers))
	for i := range k.Customers {
		for _, v := range k.Customers[i].Visits {
			each[i] += v.Waited
		}
	}
	return k.sum(each)
}

// byRequest groups spans by request, for the requests that are replayed, and adds up their lengths.
func byRequest(c *diagnosis.Case, spans []diagnosis.Span) (by map[diagnosis.RequestID][]window, all Duration) {
	by = map[diagnosis.RequestID][]window{}
	for _, x := range stretches(len(c.Requests)) {
		i, _ := slices.BinarySearchFunc(spans, x.from, func(s diagnosis.Span, id diagnosis.RequestID) int { return cmp.Compare(s.Request, id) })
		for ; i < len(spans) && spans[i].Request < x.to; i++ {
			s := spans[i]
			by[s.Request] = append(by[s.Request], window{s.From, s.To})
			all += s.To.Sub(s.From)
		}
	}
	return by, all
}

// without returns the processors as if requests had never spent the time that is gone.
func (k *crowd) without(c *diagnosis.Case, gone map[diagnosis.RequestID][]window) *crowd {
	after := *k
	after.Customers = slices.Clone(k.Customers)
	for i, id := range k.ids {
		if id != timeline.None && gone[id] != nil {
			after.Customers[i].Visits = tourOf(&c.Requests[id], atProcessor, true, gone[id]).visits
		}
	}
	return &after
}

// inTurn reports whether a segment waits for a turn that others have: at the processors, or at something that a thread
// may hold while it waits for a processor. The replay does not know what the others do with their turn then.
func inTurn(s *timeline.Segment) bool {
	switch s.Cause {
	case timeline.CauseRunnable, timeline.CauseLock, timeline.CauseInterpreterLock, timeline.CausePool, timeline.CauseEventLoop:
		return true
	}
	return false
}

// mostlyTurns reports whether at least half of what is gone of requests is waits for turns.
func mostlyTurns(c *diagnosis.Case, gone map[diagnosis.RequestID][]window) bool {
	var turns, all Duration
	for id, list := range gone {
		for g := c.Requests[id].Segments(); g.Next(); {
			d := g.To.Sub(g.From)
			for w := range outside(list, window{g.From, g.To}) {
				d -= w.to.Sub(w.from)
			}
			if all += d; inTurn(&g.Segment) {
				turns += d
			}
		}
	}
	return 2*turns >= all
}

// atProcessors returns what requests take less once some of their time is gone. That is less than the time itself if
// they then wait longer for processors.
func atProcessors(c *diagnosis.Case, gone []diagnosis.Span) []diagnosis.Span {
	if diagnosis.ShareOf(int64(diagnosis.Total(gone)), int64(c.Time())) < c.Worth/2 {
		return gone
	}
	k := crowdOf(c)
	if k == nil {
		return gone
	}
	gone = c.Merged(gone)
	by, all := byRequest(c, gone)
	if mostlyTurns(c, by) {
		return gone
	}
	after := k.without(c, by)
	would := diagnosis.ShareOf(int64(k.waited), int64(k.replayed)).Of(after.sum(after.Play(queueing.Change{}).Waited))
	more := max(0, would-after.recorded())
	return leadingShare(gone, max(0, diagnosis.Whole-diagnosis.ShareOf(int64(more), int64(all))))
}
