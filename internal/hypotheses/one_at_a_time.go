package hypotheses

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A peer that does one thing at a time, as Redis does, answers nobody while it is at something long. A call that is
// sent on another connection meanwhile waits for that, which shows: its answer comes right after the long one's,
// however late in it the call was sent, and otherwise comes fast.
const (
	// askedMeanwhile is how many calls must have been sent meanwhile to decide it.
	askedMeanwhile = 8
	// answeredAfter is the share of them that must have been answered right after.
	answeredAfter = 9 * diagnosis.Whole / 10
	// longerTimes is how many times as long as other calls usually take the long one must take.
	longerTimes = 4
	// rightAfter is how long after the long one at most. It may be twice what the call usually takes, or a tenth of what
	// it waited for, if that is more, because the calls that waited are answered one after the other.
	rightAfter = 1_000_000 // ns
	// rightBefore is how long before it at most, or a tenth of what was waited for. When the peer has done the long one,
	// it lets others go on, and sends the answer when it next gets a processor.
	rightBefore = 1_000_000 // ns
	// behindLeast is the least wait that counts.
	behindLeast = 100_000 // ns
	// longOnes is how many operations of a peer are looked at: those that took the most time.
	longOnes = 8
	// longAtOnce is how many of the latest calls of one operation may be under way at once.
	longAtOnce = 8
)

// peerWork holds the calls to one address, in order of when they were sent.
type peerWork struct {
	calls []timeline.CallID
	of    map[string][]timeline.CallID // by operation
}

// behindThere collects the waits of requests behind calls of one operation at a peer that does
// one thing at a time.
func behindThere(c *diagnosis.Case) (out []*lineOf) {
	at := map[string]*peerWork{}
	for i := range c.Calls {
		k := &c.Calls[i]
		if k.Operation == "" || k.Cut || k.Arrived == recording.NoTime || k.Sent == recording.NoTime || k.Behind != timeline.None {
			continue
		}
		w := at[k.Address]
		if w == nil {
			w = &peerWork{of: map[string][]timeline.CallID{}}
			at[k.Address] = w
		}
		w.calls = append(w.calls, k.ID)
	}
	for _, w := range at {
		slices.SortStableFunc(w.calls, func(a, b timeline.CallID) int { return cmp.Compare(c.Calls[a].Sent, c.Calls[b].Sent) })
		for _, id := range w.calls {
			w.of[c.Calls[id].Operation] = append(w.of[c.Calls[id].Operation], id)
		}
		for _, long := range w.longest(c) {
			if l := w.behind(c, long); l != nil {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b *lineOf) int {
		return cmp.Or(cmp.Compare(diagnosis.Total(b.spans), diagnosis.Total(a.spans)), cmp.Compare(a.peer, b.peer), cmp.Compare(a.ahead, b.ahead))
	})
	return out
}

// longest returns the operations that took the most time in all, the longest first.
func (w *peerWork) longest(c *diagnosis.Case) []string {
	took := map[string]Duration{}
	for _, id := range w.calls {
		took[c.Calls[id].Operation] += c.Calls[id].Arrived.Sub(c.Calls[id].Sent)
	}
	list := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Or(cmp.Compare(took[b], took[a]), cmp.Compare(a, b)) })
	return list[:min(len(list), longOnes)]
}

// behind returns the waits behind one operation; nil if the peer does others meanwhile, or if that cannot be decided.
func (w *peerWork) behind(c *diagnosis.Case, ahead string) *lineOf {
	heads := w.of[ahead]
	if len(w.of) < 2 || 2*len(heads) > len(w.calls) {
		return nil
	}
	l := &lineOf{ahead: ahead, calls: map[timeline.CallID]bool{}, owners: tally{}}
	meanwhile, usual := map[timeline.CallID][]timeline.CallID{}, []Duration{}
	for _, id := range w.calls {
		k := &c.Calls[id]
		if k.Operation == ahead {
			continue
		}
		switch long, under := under(c, heads, k); {
		case !under:
			usual = append(usual, k.Arrived.Sub(k.Sent))
		case len(long) > 0:
			meanwhile[id] = long
		}
	}
	slices.Sort(usual)
	fast, long := diagnosis.Quantile(usual, 50), takes(c, heads)
	if l.asked = len(meanwhile); l.asked < askedMeanwhile || len(usual) < askedMeanwhile || longerTimes*fast > long {
		return nil
	}
	behind := map[timeline.CallID]timeline.CallID{}
	for id, heads := range meanwhile {
		for _, head := range heads {
			if late := c.Calls[id].Arrived.Sub(c.Calls[head].Arrived); late >= -min(rightBefore, long/10) && late <= max(rightAfter, 2*fast, long/10) {
				l.calls[id], behind[id] = true, head
			}
		}
	}
	if diagnosis.ShareOf(int64(len(l.calls)), int64(l.asked)) < answeredAfter {
		return nil
	}
	l.waits(c, behind)
	return l
}

// under reports whether a call was sent while some of heads were under way. long are those of them that were somebody
// else's and went on for long enough to be waited for: of several at once a peer may do any next.
func under(c *diagnosis.Case, heads []timeline.CallID, k *timeline.Call) (long []timeline.CallID, any bool) {
	i := sort.Search(len(heads), func(i int) bool { return c.Calls[heads[i]].Sent > k.Sent })
	for _, id := range heads[max(0, i-longAtOnce):i] {
		h := &c.Calls[id]
		if h.Arrived <= k.Sent {
			continue
		}
		any = true
		if h.Arrived.Sub(k.Sent) >= behindLeast && (h.Request != k.Request || k.Request == timeline.None) {
			long = append(long, id)
		}
	}
	return long, any
}

// takes returns the median time that these calls take.
func takes(c *diagnosis.Case, calls []timeline.CallID) Duration {
	var list []Duration
	for _, id := range calls {
		list = append(list, c.Calls[id].Arrived.Sub(c.Calls[id].Sent))
	}
	slices.Sort(list)
	return diagnosis.Quantile(list, 50)
}

// waits fills in what requests waited behind each call.
func (l *lineOf) waits(c *diagnosis.Case, behind map[timeline.CallID]timeline.CallID) {
	for _, r := range c.Measured() {
		for g := c.Requests[r].Segments(); g.Next(); {
			if g.Call == timeline.None || g.Phase != timeline.PhaseRemote || !l.calls[g.Call] {
				continue
			}
			head := &c.Calls[behind[g.Call]]
			to := min(g.To, head.Arrived)
			if to <= g.From {
				continue
			}
			l.peer = c.Calls[g.Call].Peer
			l.spans = append(l.spans, diagnosis.Span{Request: r, From: g.From, To: to})
			l.longest = max(l.longest, to.Sub(g.From))
			l.owners[ownerOf(c, head)] += to.Sub(g.From)
			l.heads = append(l.heads, head.ID)
		}
	}
	slices.Sort(l.heads)
	l.heads = slices.Compact(l.heads)
}

// there is the candidate: what requests wait for at a peer that does one thing at a time.
func (l *lineOf) there(c *diagnosis.Case) diagnosis.Candidate {
	total := diagnosis.Total(l.spans)
	n := len(l.calls)
	return diagnosis.Candidate{
		Place: l.ahead + " under way at " + l.peer,
		Title: diagnosis.Plural(n, "call") + " to " + l.peer + " waited " + diagnosis.Human(total/Duration(max(1, n))) + " on average behind " + l.ahead + l.called(c) +
			": the peer serves one request at a time",
		Fix:   lessAtOnce(l.ahead),
		Next:  "the peer's own log of slow operations shows " + l.ahead + ", but not the calls that waited",
		Spans: l.spans,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of the calls sent while the peer served "+l.ahead+" were answered right after it", diagnosis.ShareOf(int64(n), int64(l.asked))).Against(int64(answeredAfter)),
			diagnosis.NS("longest of these waits", l.longest),
			diagnosis.NS("p50 of "+l.ahead+", from sending to the answer", takes(c, l.heads)),
			diagnosis.Count("calls that others waited for", len(l.heads)),
		},
	}
}

// lessAtOnce says what helps if an operation keeps a peer busy that does one thing at a time.
func lessAtOnce(operation string) string {
	return "ask for less per call with " + operation + " (in pages, by a cursor), or send it to another instance (a replica), so that other calls do not queue behind it; " +
		"a faster network or more connections would not help"
}
