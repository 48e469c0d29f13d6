package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// toldUses is how many uses of a pool's members are named. Each must have a tenth of the time in which others wait for
// one.
const toldUses = 2

// usedFor says what the holders of a pool's members do with them while others wait; "" if that is not known for most of
// the time.
func (k *contention) usedFor(c *diagnosis.Case) string {
	if 2*k.known() < k.total {
		return ""
	}
	did := tally{}
	var all Duration
	for i, d := range k.weights {
		all += d
		if words := holderWords(c, &k.did[i]); words != "" {
			did[words] += d
		}
	}
	var uses []string
	for words, d := range did {
		if 10*d >= all && all > 0 {
			uses = append(uses, words)
		}
	}
	slices.SortFunc(uses, func(a, b string) int { return cmp.Or(cmp.Compare(did[b], did[a]), cmp.Compare(a, b)) })
	text := ""
	for i, words := range uses[:min(toldUses, len(uses))] {
		sep := "; the holder of one "
		if i > 0 {
			sep = " and "
		}
		text += sep + words + " for " + diagnosis.Percent(diagnosis.ShareOf(int64(did[words]), int64(all)))
	}
	if text != "" {
		text += " of that time"
	}
	return text
}

// holderWords says what a holder does, "" if that is not known.
func holderWords(c *diagnosis.Case, d *deed) string {
	switch {
	case d.cause == timeline.CauseOnCPU || d.cause == timeline.CauseRunnable:
		return "computes"
	case d.call != timeline.None:
		return "waits for " + c.Calls[d.call].Peer
	case d.cause == timeline.CauseSleep:
		if f, found := c.SiteOf(d.stack); found {
			return "sleeps in " + symbol.Place(f)
		}
		return "sleeps until a timer"
	case d.cause == timeline.CauseDisk:
		return "waits for a disk"
	}
	return ""
}

// turnOf is the place of a call in the order of its connection.
type turnOf struct {
	conn    recording.ConnID
	ordinal int
}

// givenBack reports whether a wait lasted until another call gave back the very connection that it was for.
func givenBack(c *diagnosis.Case, on map[turnOf]timeline.CallID, call *timeline.Call, s *stay) bool {
	id, known := on[turnOf{call.Conn, call.Ordinal - 1}]
	if !known {
		return false
	}
	before := &c.Calls[id]
	return before.Request != s.Request && before.End > s.From && apart(Duration(before.End), Duration(s.To)) <= handedOn
}

// beforeTheirCalls shortens each wait to what comes before another strand makes a call for the request: from then on
// the request waits for that call. It reports whether most waits are shortened so. Then these are waits for threads
// that work for requests, and not for members of a pool.
func beforeTheirCalls(c *diagnosis.Case, k *contention) bool {
	cut, left := 0, k.stays[:0]
	for _, s := range k.stays {
		end := s.To
		for _, id := range c.Requests[s.Request].Calls {
			if call := &c.Calls[id]; call.Strand != s.strand && s.From <= call.Start && call.End <= s.To+diagnosis.Time(handedOn) {
				end = min(end, call.Start)
			}
		}
		if end < s.To {
			cut++
		}
		if s.To = end; s.From < s.To {
			left = append(left, s)
		}
	}
	most := 2*cut > len(k.stays)
	k.stays = left
	return most
}

// taskPool is a set of threads, or of processes that the service started, that work for requests. It need not be known
// for which request each piece of work is, as it is not for processes, nor for threads that no frame identifies.
type taskPool struct {
	mates  []timeline.StrandID
	away   bool   // the members are processes
	queued []stay // waits of requests for one of them, while all are busy
	work   []stay // waits of requests for what one of them does
}

// taskPools returns the task pools that requests wait for; its callers share them.
func taskPools(c *diagnosis.Case) []*taskPool {
	return c.Once("taskPools", func() any { return findTaskPools(c) }).([]*taskPool)
}

func findTaskPools(c *diagnosis.Case) (out []*taskPool) {
	waits := untold(c)
	if _, share := perMean(c, diagnosis.Total(spansOf(waits))); share < c.Worth {
		return nil
	}
	type piece struct {
		*timeline.Piece
		request diagnosis.RequestID
	}
	var pieces []piece
	found := timeline.FindTaskPools(c.Timeline)
	for i := range waits {
		if p := found.Ended(waits[i].strand, waits[i].From, waits[i].To); p != nil {
			pieces = append(pieces, piece{p, waits[i].Request})
		}
	}
	found.Settle()
	of := map[timeline.StrandID]*taskPool{}
	for _, p := range pieces {
		w := of[p.By]
		if w == nil {
			w = &taskPool{mates: found.Mates(p.By), away: c.Strands[p.By].Process != c.Requests[p.request].Process}
			for _, m := range w.mates {
				of[m] = w
			}
			out = append(out, w)
		}
		for _, q := range p.Queued {
			w.queued = append(w.queued, stay{diagnosis.Span{Request: p.request, From: q.From, To: q.To}, p.By, timeline.None})
		}
		w.work = append(w.work, stay{diagnosis.Span{Request: p.request, From: p.Began, To: p.To}, p.By, timeline.None})
	}
	return slices.DeleteFunc(out, func(w *taskPool) bool { return !w.away && len(w.mates) == 1 && !w.alone(c) })
}

// alone reports whether a single thread is a pool by itself: requests wait long for it to begin, and it computes
// meanwhile. A thread that sleeps may have several things under way at once, and one of several with similar names
// belongs to those.
func (w *taskPool) alone(c *diagnosis.Case) bool {
	if w.namesake(c) {
		return false
	}
	_, queue := perMean(c, diagnosis.Total(spansOf(w.queued)))
	what, _ := mostlyDid(c, w.queued)
	return queue >= c.Worth && what == doCompute
}

// namesake reports whether another thread of the process has a similar name, one that is not just the program's.
func (w *taskPool) namesake(c *diagnosis.Case) bool {
	own := &c.Strands[w.mates[0]]
	for i := range c.Processes {
		if p := &c.Processes[i]; p.ID == own.Process && p.Comm == own.Name {
			return false
		}
	}
	return slices.ContainsFunc(c.Strands, func(s timeline.Strand) bool {
		return s.Process == own.Process && s.TID != own.TID && family(s.Name) == family(own.Name)
	})
}

// untold returns the waits of requests for others if no fact tells whose work those do: waits of their threads, and of
// their tasks on a loop; in order of requests and time.
func untold(c *diagnosis.Case) (out []stay) {
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if r.Strand == timeline.None {
			continue
		}
		if c.Strands[r.Strand].Loop {
			if !r.Has(timeline.CauseUnknown) {
				continue
			}
			for s := r.Segments(); s.Next(); {
				if s.Cause == timeline.CauseUnknown && s.Phase == timeline.PhaseHandler && s.Strand == r.Strand {
					out = append(out, stay{diagnosis.Span{Request: id, From: s.From, To: s.To}, s.Strand, timeline.None})
				}
			}
			continue
		}
		waits := c.Sleeps(r.Strand)
		i, _ := slices.BinarySearchFunc(waits, r.FirstRead, func(w timeline.WaitID, at diagnosis.Time) int { return cmp.Compare(c.Waits[w].From, at) })
		for ; i < len(waits) && c.Waits[waits[i]].To <= r.End; i++ {
			if w := &c.Waits[waits[i]]; w.Cause == timeline.CauseCondition {
				out = append(out, stay{diagnosis.Span{Request: id, From: w.From, To: w.To}, r.Strand, waits[i]})
			}
		}
	}
	return out
}

// name is the name of all members, or the pattern of their names.
func (w *taskPool) name(c *diagnosis.Case) string {
	name := c.Strands[w.mates[0]].Name
	for _, m := range w.mates {
		if c.Strands[m].Name != name {
			return family(name)
		}
	}
	return name
}

// noun says what the members are.
func (w *taskPool) noun() string {
	if w.away {
		return "processes"
	}
	return "threads"
}

// taskPoolShortages returns what requests wait for task pools whose members are all busy.
func taskPoolShortages(c *diagnosis.Case) (out []*shortage) {
	for _, w := range taskPools(c) {
		name := w.name(c)
		s := &shortage{rt: runtimeOf(c, c.Strands[w.mates[0]].Process), mates: w.mates, noun: w.noun(), name: w.noun() + " " + name, stays: w.queued}
		if s.what = "one of " + diagnosis.Thousands(int64(len(w.mates))) + " busy " + s.noun + " (" + name + ") that work for requests"; len(w.mates) == 1 {
			s.what = "the only one of the " + s.noun + " (" + name + ") that work for requests, which is busy"
		}
		s.replayTaskPool(c)
		if 2*diagnosis.Total(spansOf(s.gone)) < diagnosis.Total(spansOf(s.stays)) { // they compute, on processors that are busy
			s.gone, s.doubt = s.stays, "give the "+s.noun+" less to do, or the host more processors: they mostly compute on busy processors, so more "+s.noun+" alone would not help"
		}
		out = append(out, s)
	}
	return out
}

// replayTaskPool finds what requests would wait less if there were more members.
func (s *shortage) replayTaskPool(c *diagnosis.Case) {
	s.k = &contention{deeds: makeDeeds(c), lock: timeline.None, name: s.name, stays: s.stays}
	s.k.fill(c)
	left := s.k.again(c)
	left.workersDid(c)
	s.gone = left.without(c)
}

// takenFor names the endpoint for whose requests the members mostly work, as far as that is known; "" if there is no
// such.
func (s *shortage) takenFor(c *diagnosis.Case) string {
	by := tally{}
	for _, id := range c.Measured() {
		for _, p := range c.Requests[id].Parts {
			if slices.Contains(s.mates, p.Strand) {
				by[c.Requests[id].Endpoint] += p.To.Sub(p.From)
			}
		}
	}
	if who, share := by.most(); share >= diagnosis.Whole/2 {
		return who
	}
	return ""
}

// calledNext returns the first call that a strand makes after a wait; nil if there is none.
func calledNext(c *diagnosis.Case, w *stay) *timeline.Call {
	for _, id := range c.Requests[w.Request].Calls {
		if call := &c.Calls[id]; call.Strand == w.strand && call.SendFrom >= w.To {
			return call
		}
	}
	return nil
}

// sessions counts the connections of a pool to a database. A holder may call the database only now and then. But if a
// pool is full, all the connections are in use that the waiting strands get then.
func (s *shortage) sessions(c *diagnosis.Case) {
	of := map[recording.ConnID]bool{}
	for i := range s.stays {
		if call := calledNext(c, &s.stays[i]); s.gate == "" && call != nil && call.Peer == s.peer && call.Protocol.SQL() {
			of[call.Conn] = true
		}
	}
	var open []window
	for i := range c.Conns {
		if k := &c.Conns[i]; of[k.ID] {
			open = append(open, window{k.Opened, cmp.Or(k.Closed, c.End)})
		}
	}
	s.size = max(s.size, mostAtOnce(open))
}
