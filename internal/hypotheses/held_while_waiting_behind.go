package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

const (
	// heldLong is how many times as long as usual an answer takes that waited for a lock.
	heldLong = 3
	// heldPart is of how much of the time since the commit before the last, or since it was sent,
	// the answer comes at most after the last, to a statement that waited for that: one in four
	// would by chance.
	heldPart = 4
	// heldMostly of such answers must come so, in percent, and heldLeast at least.
	heldMostly, heldLeast = 80, 3
)

// writes are the statements after which a transaction holds locks on rows.
func writes(call *timeline.Call) (table string, ok bool) {
	verb, table, _ := strings.Cut(call.Operation, " ")
	switch verb {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK":
		return table, table != "" && table[0] != '/' // a route
	}
	return "", false
}

// statements returns what requests waited for answers to statements on tables that
// other, idle transactions had written to.
func (h *held) statements() (out []diagnosis.Span) {
	usual := h.usual()
	for i := range h.c.Calls {
		call := &h.c.Calls[i]
		table, ok := writes(call)
		if !ok || call.Request == timeline.None || call.Arrived == recording.NoTime || call.Sent == recording.NoTime {
			continue
		}
		took := call.Arrived.Sub(call.Sent)
		if u := usual[call.Operation]; took < milli || took < heldLong*u {
			continue
		}
		spans, ended := h.behindOne(call, table)
		if len(spans) == 0 {
			continue
		}
		h.long++
		if ended {
			h.ends++
			out = append(out, spans...)
		}
	}
	if 100*h.ends < heldMostly*h.long || h.ends < heldLeast {
		return nil
	}
	return out
}

// usual is how long the answer to each statement takes, by the lower quartile: those that
// waited for no lock.
func (h *held) usual() map[string]Duration {
	took := map[string][]Duration{}
	for i := range h.c.Calls {
		call := &h.c.Calls[i]
		if call.Arrived != recording.NoTime && call.Sent != recording.NoTime {
			took[call.Operation] = append(took[call.Operation], call.Arrived.Sub(call.Sent))
		}
	}
	out := map[string]Duration{}
	for op, list := range took {
		slices.Sort(list)
		out[op] = diagnosis.Quantile(list, 25)
	}
	return out
}

// behindOne returns when, during a statement, another transaction that had written to its
// table was idle: if one ended as the answer came, that one, and before it those that it
// waited for itself.
func (h *held) behindOne(call *timeline.Call, table string) (out []diagnosis.Span, ended bool) {
	k, ended := h.before(call, table)
	for range heldLooks {
		if k < 0 {
			break
		}
		for _, w := range h.idleOf[k] {
			if from, to := max(w.from, call.Sent), min(w.to, call.Arrived); from < to {
				out = append(out, diagnosis.Span{Request: call.Request, From: from, To: to})
			}
		}
		first := h.firstWrite(&h.open[k], table)
		if !ended || first.Sent == recording.NoTime || first.Arrived <= call.Sent {
			break
		}
		next, waited := h.before(first, table)
		if !waited || next == k {
			break
		}
		k = next
	}
	return out, ended
}

// before returns the transaction that had written to the table of a statement and was the last
// to end before its answer came, if that came soon enough after; if none did, one that was open;
// -1 if there is none.
func (h *held) before(call *timeline.Call, table string) (at int, ended bool) {
	open, last := -1, -1
	end, before := call.Sent, call.Sent // of the last commit, and of the one before
	i, _ := slices.BinarySearchFunc(h.open, call.Arrived, func(x timeline.Transaction, at diagnosis.Time) int { return cmp.Compare(x.From, at) })
	for k := i - 1; k >= 0 && k >= i-heldLooks; k-- {
		x := &h.open[k]
		first := h.firstWrite(x, table)
		if x.Conn == call.Conn || first == nil || first.Arrived > call.Arrived || first.Arrived == recording.NoTime {
			continue
		}
		commit := &h.c.Calls[x.Calls[len(x.Calls)-1]]
		switch at := cmp.Or(commit.Arrived, x.To); {
		case commit.SendFrom > call.Arrived:
			if open < 0 && x.To > call.Sent {
				open = k
			}
		case at > end:
			end, before, last = at, end, k
		default:
			before = max(before, at)
		}
	}
	if last >= 0 && heldPart*(call.Arrived-end) <= end-before {
		return last, true
	}
	if open < 0 {
		open = last
	}
	return open, false
}

// heldLooks bounds how many transactions before a time are looked at.
const heldLooks = 64

// firstWrite returns the first statement with which a transaction wrote to a table, or nil.
func (h *held) firstWrite(x *timeline.Transaction, table string) *timeline.Call {
	for _, id := range x.Calls {
		if at, ok := writes(&h.c.Calls[id]); ok && at == table {
			return &h.c.Calls[id]
		}
	}
	return nil
}

// pools returns what requests waited for members of pools while those who had them were
// idle in transaction; where a holder is not known, that is said in the result.
func (h *held) pools(res *diagnosis.Result) (out []diagnosis.Span) {
	if len(h.open) == 0 {
		return nil
	}
	for _, k := range contentions(h.c, timeline.CausePool) {
		for i := range k.stays {
			s := &k.stays[i]
			if s.wait == timeline.None {
				continue
			}
			w := &h.c.Waits[s.wait]
			if len(w.Holds) == 0 {
				res.Hidden = append(res.Hidden, s.Span)
				res.Hides = "is a wait for a pool of which it is not known who had its members"
			}
			for _, x := range w.Holds {
				out = append(out, h.idleIn(s, x)...)
			}
		}
	}
	return out
}

// idleIn returns the part of a wait in which its holder was idle in transaction.
func (h *held) idleIn(s *stay, x timeline.Hold) (out []diagnosis.Span) {
	from, to := max(s.From, x.From), min(s.To, x.To)
	list := h.idle[x.Strand]
	i, _ := slices.BinarySearchFunc(list, from+1, func(w window, at diagnosis.Time) int { return cmp.Compare(w.to, at) })
	for ; i < len(list) && list[i].from < to; i++ {
		out = append(out, diagnosis.Span{Request: s.Request, From: max(from, list[i].from), To: min(to, list[i].to)})
	}
	return out
}

// queues returns what calls of event loops waited for the connection that they came to be sent
// on while that was idle in transaction: the transactions that had it then stood before them.
func (h *held) queues() (out []diagnosis.Span) {
	on := map[recording.ConnID][]window{}
	for k := range h.open {
		on[h.open[k].Conn] = append(on[h.open[k].Conn], h.idleOf[k]...)
	}
	for _, s := range stays(h.c, timeline.CausePool, func(s *timeline.Segment) bool {
		return s.Call != timeline.None && s.Phase == timeline.PhaseQueue
	}) {
		call := callAt(h.c, &s)
		if call == nil {
			continue
		}
		list := on[call.Conn]
		i, _ := slices.BinarySearchFunc(list, s.From+1, func(w window, at diagnosis.Time) int { return cmp.Compare(w.to, at) })
		for ; i < len(list) && list[i].from < s.To; i++ {
			out = append(out, diagnosis.Span{Request: s.Request, From: max(s.From, list[i].from), To: min(s.To, list[i].to)})
		}
	}
	return out
}
