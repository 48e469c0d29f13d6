package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// spent is what requests spent on one cause.
type spent struct {
	stays   []stay
	total   Duration
	longest Duration
	times   int    // separate waits
	at      string // the place in code where most of it was spent; "" not known
	line    string // the same with its line
	atShare diagnosis.Share
	in      string // the system call in which most of it was spent
	file    string // the file for which most of it was spent; "" not known

	fileShare diagnosis.Share
}

func spentOn(c *diagnosis.Case, cause timeline.Cause) spent {
	return spentIn(c, cause, stays(c, cause, whole))
}

// spentIn is what they spent in some stays of one cause.
func spentIn(c *diagnosis.Case, cause timeline.Cause, list []stay) spent {
	return spentBy(c, cause, list, func(w *stay) (call, file string, known bool) { return callOf(c, w) })
}

// callOf names the system call of a stay and the file that it was for, as far as its Wait shows.
func callOf(c *diagnosis.Case, w *stay) (call, file string, known bool) {
	if w.wait == timeline.None || c.Waits[w.wait].Off == nil {
		return "", "", false
	}
	return c.Waits[w.wait].Off.Syscall, c.FileName(c.Waits[w.wait].Off), true
}

// spentBy is spentIn with a function that names the system call and the file of a stay.
func spentBy(c *diagnosis.Case, cause timeline.Cause, list []stay, of func(*stay) (call, file string, known bool)) spent {
	s := spent{stays: list}
	sites, lines, calls, files := tally{}, tally{}, tally{}, tally{}
	seen := diagnosis.Span{Request: timeline.None}
	for i := range s.stays {
		w := &s.stays[i]
		d := w.To.Sub(w.From)
		s.total += d
		if w.Request != seen.Request || w.From != seen.To {
			s.times++
			seen = w.Span
		}
		seen.To = w.To
		s.longest = max(s.longest, seen.To.Sub(seen.From))
		stack := stackOf(c, w)
		if (cause == timeline.CauseSleep || w.wait == timeline.None) && w.strand != timeline.None && c.Strands[w.strand].Loop {
			stack = timeline.None // it is that of the loop's wait for its sockets, not of the code that set the timer or started a program
		}
		sites[site(c, stack)] += d
		if f, ok := c.SiteOf(stack); ok {
			lines[symbol.Place(f)] += d
		}
		if call, file, known := of(w); known {
			calls[call] += d
			files[file] += d
		}
	}
	s.at, s.atShare = sites.most()
	s.line, _ = lines.most()
	s.in, _ = calls.most()
	s.file, s.fileShare = files.most()
	return s
}

// spans returns what requests would not wait without it: their own waits, what handing over costs them, and what they
// wait for workers that it holds up.
func (s *spent) spans(c *diagnosis.Case) []diagnosis.Span {
	return slices.Concat(spansOf(s.stays), s.handOvers(c), behindWorkers(c, s.stays))
}

// handOvers returns what requests waited for processors right after it: a strand that does not wait still has its
// processor. If a thread waited that did nothing else for the request, its wait for a processor before that counts too,
// and so does the request's own once it was told.
func (s *spent) handOvers(c *diagnosis.Case) (out []diagnosis.Span) {
	var pieces []timeline.Segment
	for i := range s.stays {
		w := &s.stays[i]
		r := &c.Requests[w.Request]
		if i == 0 || s.stays[i-1].Request != w.Request {
			pieces = pieces[:0]
			for g := r.Segments(); g.Next(); {
				pieces = append(pieces, g.Segment)
			}
		}
		after, _ := slices.BinarySearchFunc(pieces, w.To+1, func(g timeline.Segment, t diagnosis.Time) int { return cmp.Compare(g.To, t) })
		before, _ := slices.BinarySearchFunc(pieces, w.From, func(g timeline.Segment, t diagnosis.Time) int { return cmp.Compare(g.From, t) })
		end := w.To
		for _, g := range pieces[after:] {
			if g.From = max(g.From, w.To); g.From > end || !w.hands(r, &g) {
				break
			}
			end = g.To
			if g.Cause == timeline.CauseRunnable {
				out = append(out, diagnosis.Span{Request: w.Request, From: g.From, To: g.To})
			}
		}
		for _, g := range slices.Backward(pieces[:before]) {
			if g.To = min(g.To, w.From); g.Strand != w.strand || g.Strand == r.Strand || !w.hands(r, &g) {
				break
			}
			if g.Cause == timeline.CauseRunnable {
				out = append(out, diagnosis.Span{Request: w.Request, From: g.From, To: g.To})
			}
		}
	}
	return out
}

// errandWork is how much a thread does, at most, before and after a wait of a request if it is there for that wait
// alone.
const errandWork = Duration(milli / 10)

// hands reports whether a piece of a request's time beside a wait is spent on handing over.
func (w *stay) hands(r *timeline.Request, g *timeline.Segment) bool {
	away := w.strand != r.Strand && (g.Cause != timeline.CauseOnCPU || g.Strand == w.strand)
	return g.Cause == timeline.CauseRunnable || away && g.To.Sub(g.From) <= errandWork
}

// place names where in the code it was spent, else on which thread.
func (s *spent) place(c *diagnosis.Case) string {
	if s.at != "" || len(s.stays) == 0 {
		return s.at
	}
	threads := tally{}
	for i := range s.stays {
		threads[threadName(c, s.stays[i].strand)] += s.stays[i].To.Sub(s.stays[i].From)
	}
	name, _ := threads.most()
	return name
}

// from says from where in the code; "" if that is not known.
func (s *spent) from() string {
	if s.at == "" {
		return ""
	}
	return ", mostly in " + cmp.Or(s.line, s.at)
}

// forFile names the file that it was for; "" if that is not known of most of it, or says nothing.
func (s *spent) forFile() string {
	if s.file == "" || s.file == "{}" || s.fileShare < diagnosis.Whole/2 {
		return ""
	}
	return ", for the file " + s.file
}

// evidence is what was measured of it; what names it.
func (s *spent) evidence(c *diagnosis.Case, what string) []diagnosis.Evidence {
	_, share := perMean(c, s.total)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent "+what, share),
		whose(c, spansOf(s.stays)).inRequest("mean per request", "", s.total),
		diagnosis.Count("waits", s.times),
		diagnosis.NS("longest wait", s.longest),
	}
	if s.at != "" && s.atShare >= diagnosis.Whole/100 {
		ev = append(ev, diagnosis.Part("of it in "+s.at, s.atShare))
	}
	switch s.file {
	case "":
	case "{}":
		ev = append(ev, diagnosis.Part("of it for a file whose name is not recorded", s.fileShare))
	default:
		ev = append(ev, diagnosis.Part("of it for the file "+s.file, s.fileShare))
	}
	return ev
}

// lead says how much it was.
func (s *spent) lead(c *diagnosis.Case, what string) string {
	if s.total == 0 {
		return none(c)
	}
	_, share := perMean(c, s.total)
	return what + " takes " + diagnosis.Percent(share) + " of all request time"
}

// fixFor returns the advice of the first row that names a system call, or of the row for any.
func fixFor(in string, rows []advice) string {
	for _, r := range rows {
		if slices.Contains(r.calls, in) || r.calls == nil {
			return r.text
		}
	}
	return ""
}

// advice says what to do about time spent in one of some system calls; nil means any.
type advice struct {
	calls []string
	text  string
}

// A request that sleeps while others make a call for it may look now and then whether that has its answer: without the
// sleep it would wait for the call. What it sleeps until the answer is there does not surely go. What it sleeps after
// that does.

// gone returns what would surely go without sleeping, and all of it if that is more, with evidence and a clause that
// says so. If nothing else shows what the sleep is for, it may be for what helpers do.
func (s *spent) gone(c *diagnosis.Case, ev []diagnosis.Evidence, told bool) (surely, all []diagnosis.Span, beside string, more []diagnosis.Evidence) {
	surely = c.Merged(s.spans(c))
	calls, peer := s.polled(c)
	if len(calls) > 0 {
		share := diagnosis.ShareOf(int64(diagnosis.Total(calls)), int64(s.total))
		if share >= diagnosis.Whole/20 {
			beside = "; other threads make calls to " + peer + " meanwhile, and the sleeps may wait for those"
		}
		ev = append(ev, diagnosis.Part("of it while another thread makes a call that ends during the sleep", share))
	}
	if told {
		return notIn(surely, calls), surely, beside, ev
	}
	work := s.helped(c)
	if share := diagnosis.ShareOf(int64(diagnosis.Total(work)), int64(s.total)); share >= diagnosis.Whole/20 {
		beside = cmp.Or(beside, "; threads or processes that serve no request work meanwhile, and the sleeps may wait for those")
		calls, ev = c.Merged(append(calls, work...)), append(ev, diagnosis.Part("of it while other threads or processes work that serve no request", share))
	}
	if len(calls) == 0 {
		return surely, nil, "", ev
	}
	return notIn(surely, calls), surely, beside, ev
}

// helped returns the parts of sleeps in which helpers would still do something for the request, according to a replay.
// Three times in four they must be at work as a request begins to sleep and, in the replay, be done before it is over.
// Otherwise it is not for them that requests sleep.
func (s *spent) helped(c *diagnosis.Case) (out []diagnosis.Span) {
	work := helpers(c)
	for i := range s.stays { // a strand that sleeps itself does so for the request
		delete(work, s.stays[i].strand)
	}
	if len(work) == 0 {
		return nil
	}
	naps := s.naps(c, work)
	slices.SortStableFunc(naps, func(a, b nap) int { return cmp.Compare(a.asked, b.asked) })
	asked := make([]diagnosis.Time, len(naps))
	for i := range naps {
		asked[i] = naps[i].asked
	}
	late, idle := 0, 0
	for i, done := range helped(work, asked) {
		if !atWork(work, asked[i]) {
			idle++
		}
		if done > c.Requests[naps[i].of].End {
			late++
		}
		for _, w := range naps[i].stays {
			if w.From < done {
				out = append(out, diagnosis.Span{Request: w.Request, From: w.From, To: min(w.To, done)})
			}
		}
	}
	if 4*late > len(naps) || 4*idle > len(naps) {
		return nil
	}
	return c.Merged(out)
}

// polled returns the parts of sleeps in which a call is under way that ends within them and that they may be for, and
// the peer of most of these. The call is the request's own, or one of no known request made by a strand that the
// request had let go on before it slept.
func (s *spent) polled(c *diagnosis.Case) (calls []diagnosis.Span, peer string) {
	own, letGo := map[diagnosis.RequestID][]timeline.CallID{}, sentCalls(c)
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Request != timeline.None {
			own[k.Request] = append(own[k.Request], k.ID)
		}
	}
	peers := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		r := &c.Requests[w.Request]
		add := func(k *timeline.Call) {
			if sp := (diagnosis.Span{Request: w.Request, From: max(w.From, k.Start), To: k.End}); sp.From < sp.To && sp.To <= w.To {
				calls = append(calls, sp)
				peers[k.Peer] += sp.To.Sub(sp.From)
			}
		}
		for _, id := range own[w.Request] {
			if c.Calls[id].Start >= w.To {
				break
			}
			add(&c.Calls[id])
		}
		made := letGo[r.Strand]
		from, _ := slices.BinarySearchFunc(made, r.FirstRead, func(e sentCall, at diagnosis.Time) int { return cmp.Compare(e.at, at) })
		for _, e := range made[from:] {
			if e.at > w.From {
				break
			}
			add(&c.Calls[e.call])
		}
	}
	peer, _ = peers.most()
	return c.Merged(calls), peer
}

// sentCall is a call of no known request that a strand made after another strand had let it go on.
type sentCall struct {
	call timeline.CallID
	at   diagnosis.Time // when it was let go on
}

// sentCalls lists them by the strand that let the caller go on, in order of time.
func sentCalls(c *diagnosis.Case) map[timeline.StrandID][]sentCall {
	callers := map[timeline.CallID]timeline.StrandID{}
	for s, calls := range c.Goroutines.Calls {
		for _, id := range calls {
			callers[id] = s
		}
	}
	of := map[timeline.StrandID][]sentCall{}
	for i := range c.Calls {
		k := &c.Calls[i]
		if k.Request != timeline.None {
			continue
		}
		strand, ok := callers[k.ID]
		if !ok {
			strand = k.Strand
		}
		if by, at := lastLetGo(c, strand, k.Start); by != timeline.None {
			of[by] = append(of[by], sentCall{k.ID, at})
		}
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b sentCall) int { return cmp.Compare(a.at, b.at) })
	}
	return of
}

// lastLetGo returns which strand let another go on last before a time, and when; None if that is not known.
func lastLetGo(c *diagnosis.Case, strand timeline.StrandID, before diagnosis.Time) (by timeline.StrandID, at diagnosis.Time) {
	by = timeline.None
	if strand == timeline.None {
		return by, at
	}
	if end := c.Goroutines.SelectedIn(strand, 0, before); end != nil {
		by, at = end.By, end.At
	}
	waits := c.Strands[strand].Waits
	n, _ := slices.BinarySearchFunc(waits, before+1, func(id timeline.WaitID, at diagnosis.Time) int { return cmp.Compare(c.Waits[id].To, at) })
	if n == 0 || c.Waits[waits[n-1]].To < at {
		return by, at
	}
	w := &c.Waits[waits[n-1]]
	if c.Strands[strand].Goroutine != recording.NoGoroutine {
		return c.ParkedBy(waits[n-1]), w.To
	}
	if s, ok := threadStrands(c)[waker(c, waits[n-1])]; ok {
		return s, w.To
	}
	return timeline.None, w.To
}

// notIn returns the parts of spans that lie outside of taken; both are merged.
func notIn(spans, taken []diagnosis.Span) (out []diagnosis.Span) {
	k := 0
	for _, s := range spans {
		for k < len(taken) && (taken[k].Request < s.Request || taken[k].Request == s.Request && taken[k].To <= s.From) {
			k++
		}
		for i := k; i < len(taken) && taken[i].Request == s.Request && taken[i].From < s.To; i++ {
			if taken[i].From > s.From {
				out = append(out, diagnosis.Span{Request: s.Request, From: s.From, To: taken[i].From})
			}
			s.From = max(s.From, taken[i].To)
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}
