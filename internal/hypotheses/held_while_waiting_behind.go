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
	// heldLong is how many times as long as usual an answer takes if its statement waited for a lock.
	heldLong = 3
	// heldPart: the answer to a statement that waited for a transaction comes soon after the commit of that one: within a
	// quarter of the time since the commit before that, or since the statement was sent. By chance one in four would.
	heldPart = 4
	// At least heldMostly percent of such answers must come so, and at least heldLeast of them.
	heldMostly, heldLeast = 80, 3
)

// writes returns the table of a statement after which a transaction holds locks on rows.
func writes(call *timeline.Call) (table string, ok bool) {
	verb, table, _ := strings.Cut(call.Operation, " ")
	switch verb {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK":
		return table, table != "" && table[0] != '/' // else it is a route
	}
	return "", false
}

// readsBefore returns the statements that read from a table to which their transaction writes after that. They may lock
// the rows they read, as SELECT ... FOR UPDATE does.
func (h *held) readsBefore() map[timeline.CallID]bool {
	out := map[timeline.CallID]bool{}
	for i := range h.open {
		written := map[string]bool{}
		for _, id := range slices.Backward(h.open[i].Calls) {
			if table, ok := writes(&h.c.Calls[id]); ok {
				written[table] = true
			}
			if verb, table, _ := strings.Cut(h.c.Calls[id].Operation, " "); verb == "SELECT" && written[table] {
				out[id] = true
			}
		}
	}
	return out
}

// locks returns the table whose rows a statement locks.
func (h *held) locks(call *timeline.Call) (table string, ok bool) {
	if h.reads[call.ID] {
		return strings.TrimPrefix(call.Operation, "SELECT "), true
	}
	return writes(call)
}

// statements returns what requests waited for answers to statements on tables to which other, idle transactions had
// written. Whether a read locks rows is not seen. It is assumed if such reads wait for those transactions.
func (h *held) statements() []diagnosis.Span {
	usual := h.usual()
	h.reads = h.readsBefore()
	reads, ends, long := h.waiting(usual, true)
	if reads == nil {
		h.reads, ends, long = nil, 0, 0
	}
	out, ended, of := h.waiting(usual, false)
	h.ends, h.long = ends+ended, long+of
	return append(out, reads...)
}

// waiting returns what statements waited for such a transaction: those that read before they write, or those that
// write. It returns nil if chance would show as much. long counts the statements that took long, ends those of them
// that ended as the transaction did.
func (h *held) waiting(usual map[string]Duration, reads bool) (out []diagnosis.Span, ends, long int) {
	for i := range h.c.Calls {
		call := &h.c.Calls[i]
		table, ok := h.locks(call)
		if !ok || h.reads[call.ID] != reads || call.Request == timeline.None || call.Arrived == recording.NoTime || call.Sent == recording.NoTime {
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
		long++
		if ended {
			ends++
			out = append(out, spans...)
		}
	}
	if 100*ends < heldMostly*long || ends < heldLeast {
		return nil, ends, long
	}
	return out, ends, long
}

// usual returns how long the answer to each statement takes without a lock to wait for: the lower quartile.
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

// behindOne returns when, during a statement, another transaction that had locked rows of its table was idle. If that
// one ended as the answer came, the transactions that it had itself waited for count too.
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
		first := h.firstLock(&h.open[k], table)
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

// before returns the transaction that had locked rows of a statement's table and was the last to end before its answer
// came, if the answer came soon enough after. Otherwise it returns one that was open, or else the last that had ended;
// -1 if there is none.
func (h *held) before(call *timeline.Call, table string) (at int, ended bool) {
	open, last := -1, -1
	end, before := call.Sent, call.Sent // end of the last commit, and of the one before
	i, _ := slices.BinarySearchFunc(h.open, call.Arrived, func(x timeline.Transaction, at diagnosis.Time) int { return cmp.Compare(x.From, at) })
	for k := i - 1; k >= 0 && k >= i-heldLooks; k-- {
		x := &h.open[k]
		first := h.firstLock(x, table)
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

// heldLooks is how many transactions before a time are looked at, at most.
const heldLooks = 64

// firstLock returns the first statement with which a transaction locked rows of a table, or nil.
func (h *held) firstLock(x *timeline.Transaction, table string) *timeline.Call {
	for _, id := range x.Calls {
		if at, ok := h.locks(&h.c.Calls[id]); ok && at == table {
			return &h.c.Calls[id]
		}
	}
	return nil
}

// pools returns what requests waited for members of pools while the holders were idle in transaction. If a holder is
// not known, the result says so.
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
				res.Hides = "is a wait for a pool, and it is not known who had its members"
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

// queues returns what calls of event loops waited for the connection that they were then sent on, while that was idle
// in transaction: the transactions that had it then were ahead of them.
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
