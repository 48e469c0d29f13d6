package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func heldWhileWaiting() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "held-while-waiting",
		Title: "Transactions are held open over other work, and others wait for them",
		Doc: "Others wait for their connections or locks, while their own requests do something else.\n\n" +
			"Support: requests that wait behind sessions of PostgreSQL or MySQL that are idle in transaction, in one of two ways:\n\n" +
			"- for a pooled connection whose holder has a transaction open and asks its session nothing;\n" +
			"- for the answer to a statement that writes to a table to which an open transaction of another session has written, or that reads from such a table before it writes to it. At least 80 % of such answers that take 3 times as long as " +
			"usual must come as the other transaction ends: within a quarter of the time between its end and the one before.\n\n" +
			"Not this: a request that is itself slow between BEGIN and COMMIT belongs to other hypotheses. How long that takes, and what it does meanwhile, is reported here.\n\n" +
			"Saving: the part of those waits in which the other session was idle is taken out of each request.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"pool-exhausted", "slow-peer", "accept-queue", "load"},
		Family:   familyPools,
		Test:     testHeldWhileWaiting,
	}
}

func testHeldWhileWaiting(c *diagnosis.Case) diagnosis.Result {
	h := newHeld(c)
	res := diagnosis.Result{Undecided: h.unread(), Lead: h.lead()}
	behind := slices.Concat(h.statements(), h.pools(&res), h.queues())
	total := diagnosis.Total(c.Merged(behind))
	_, share := perMean(c, total)
	ev := append([]diagnosis.Evidence{diagnosis.Part("of all request time is spent waiting behind sessions that are idle in a transaction", share)}, h.evidence()...)
	if res.Evidence = ev; total == 0 {
		return res
	}
	res.Lead = "waiting behind sessions that are idle in a transaction takes " + diagnosis.Percent(share) + " of all request time"
	res.Candidates = []diagnosis.Candidate{{
		Place: "transactions with " + h.peer(),
		Title: "Requests wait " + meanWords(c, c.Merged(behind)) + " because sessions of " + h.peer() + " are kept in open transactions: they are idle for " +
			diagnosis.Percent(h.idleShare()) + " of that time" + h.meanwhile(),
		Fix:      "between BEGIN and COMMIT do only what must be done there: read caches, call other services and compute before or after it; take a connection only when the first statement is ready" + h.left(),
		Next:     "dwell show REC --slowest 3 shows the statements of single requests and what happens between them",
		Spans:    behind,
		Evidence: ev,
		AtLeast:  true, // of a queue of transactions only the last one ahead is known
	}}
	return res
}

// held describes the transactions that requests held open.
type held struct {
	c          *diagnosis.Case
	telemetry  *telemetry
	open       []timeline.Transaction // in order of their start
	idle       map[timeline.StrandID][]window
	idleOf     [][]window               // of each transaction: its gaps, in order
	reads      map[timeline.CallID]bool // statements that lock the rows they read
	all, gaps  Duration
	sends      int
	did        [heldKinds]Duration // meanwhile, by kind
	others     tally               // of that: calls to other peers
	long, ends int                 // long: statements that took long while a session was idle; ends: those of them that ended as it did
}

// What a request does while its session is idle in transaction.
const (
	heldTelemetry = iota // it sends metrics or waits for that
	heldCalls            // it waits for another peer
	heldCPU              // it computes, or is ready to
	heldOther
	heldKinds
)

func newHeld(c *diagnosis.Case) *held {
	h := &held{c: c, telemetry: telemetryOf(c), idle: map[timeline.StrandID][]window{}, others: tally{}}
	for _, x := range c.Transactions() {
		first := &c.Calls[x.Calls[0]]
		if x.Cut || first.Request == timeline.None || !c.Requests[first.Request].Measured() {
			continue
		}
		h.open = append(h.open, x)
		h.idleOf = append(h.idleOf, h.between(&x))
		h.all += x.To.Sub(x.From)
		h.gaps += x.Idle
	}
	for s := range h.idle {
		slices.SortFunc(h.idle[s], func(a, b window) int { return cmp.Compare(a.from, b.from) })
	}
	return h
}

// between lists the gaps in which a transaction's session was idle, and adds up what its request did in them.
func (h *held) between(x *timeline.Transaction) (out []window) {
	at := x.From
	for _, id := range x.Calls {
		call := &h.c.Calls[id]
		if w := (window{at, call.SendFrom}); w.from < w.to {
			out = append(out, w)
			h.idle[call.Strand] = append(h.idle[call.Strand], w)
			h.add(call, w)
		}
		at = max(at, call.End)
	}
	return out
}

// add sorts what the strand of a call did in a gap.
func (h *held) add(call *timeline.Call, w window) {
	if call.Strand == timeline.None {
		return
	}
	h.sends += len(h.telemetry.sent(call.Strand, w.from, w.to))
	counted := Duration(0)
	for _, x := range h.telemetry.within(call.Strand, w.from, w.to) {
		if x.kind != sendUnsure {
			counted += min(x.to, w.to).Sub(max(x.from, w.from))
		}
	}
	h.did[heldTelemetry] += counted
	for _, a := range h.c.Doing(call.Strand, w.from, w.to) {
		kind, d := heldOther, a.To.Sub(a.From)
		switch {
		case a.Cause == timeline.CauseOnCPU || a.Cause == timeline.CauseRunnable:
			kind = heldCPU
		case a.Call != timeline.None:
			kind = heldCalls
			other := &h.c.Calls[a.Call]
			h.others[callName(shapeOf(other))] += d
		}
		for _, x := range h.telemetry.within(call.Strand, a.From, a.To) {
			if x.kind != sendUnsure {
				d -= min(x.to, a.To).Sub(max(x.from, a.From))
			}
		}
		h.did[kind] += max(0, d)
	}
}

func (h *held) idleShare() diagnosis.Share { return diagnosis.ShareOf(int64(h.gaps), int64(h.all)) }

// meanwhile says what requests did most while their sessions were idle.
func (h *held) meanwhile() string {
	most := 0
	for k, d := range h.did {
		if d > h.did[most] {
			most = k
		}
	}
	if h.gaps == 0 || 10*h.did[most] < 3*h.gaps {
		return ""
	}
	name := [...]string{"send metrics", "wait for other peers", "compute", "wait for something else"}[most]
	if other, share := h.others.most(); most == heldCalls && 5*share >= 3*diagnosis.Whole {
		name = "wait for " + other
	}
	return ", mostly while their requests " + name
}

// left says where the database shows which sessions are still idle in a transaction; "" if dwell does not know where.
func (h *held) left() string {
	if len(h.open) == 0 {
		return ""
	}
	switch h.c.Calls[h.open[0].Calls[0]].Protocol {
	case recording.ProtocolPostgres:
		return "; pg_stat_activity (state 'idle in transaction') shows what is left"
	case recording.ProtocolMySQL:
		return "; information_schema.innodb_trx shows the transactions that are still open"
	}
	return ""
}

func (h *held) evidence() []diagnosis.Evidence {
	n := Duration(max(1, len(h.open)))
	ev := []diagnosis.Evidence{
		diagnosis.Count("transactions of requests", len(h.open)),
		diagnosis.NS("mean length of a transaction", h.all/n),
		diagnosis.Part("of the transactions' time the session is idle", h.idleShare()),
		{What: "datagrams of metrics or logs sent in a transaction", Value: int64(h.sends) * 1000 / int64(n), Unit: diagnosis.UnitRatio},
	}
	for k, what := range [heldKinds]string{"sends metrics or waits for that", "waits for other peers", "computes or waits for a processor", "waits for something else"} {
		if h.did[k] > 0 {
			ev = append(ev, diagnosis.Part("of that idle time the request "+what, diagnosis.ShareOf(int64(h.did[k]), int64(h.gaps))))
		}
	}
	if h.long > 0 {
		ev = append(ev, diagnosis.Part("of the slow statements on a table that an idle transaction wrote to end when that transaction does", diagnosis.ShareOf(int64(h.ends), int64(h.long))))
	}
	return ev
}

func (h *held) lead() string {
	n := len(h.c.Overall.Requests)
	if len(h.open) == 0 {
		return "no transaction of a database was seen in " + diagnosis.Plural(n, "request")
	}
	return "sessions are idle for " + diagnosis.Percent(h.idleShare()) + " of the time of " + diagnosis.Plural(len(h.open), "transaction") + ", and no request was seen to wait for one of them"
}

// peer is the database with the most time in transactions.
func (h *held) peer() string {
	of := tally{}
	for i := range h.open {
		of[h.c.Calls[h.open[i].Calls[0]].Peer] += h.open[i].To.Sub(h.open[i].From)
	}
	name, _ := of.most()
	return name
}

// unread says that there are sessions whose protocol cannot be read; "" if there are none.
func (h *held) unread() string {
	if len(h.open) > 0 {
		return ""
	}
	for i := range h.c.Conns {
		cn := &h.c.Conns[i]
		if cn.Side == recording.Outbound && !cn.Protocol.SQL() && sqlPort(cn.Peer) {
			return "the sessions with " + cmp.Or(cn.Name, cn.Peer) + " cannot be read: they are encrypted or use a protocol that dwell does not know"
		}
	}
	return ""
}

// sqlPort reports whether a peer has the port of a database with transactions: PostgreSQL, PgBouncer, MySQL, SQL
// Server, Oracle.
func sqlPort(peer string) bool {
	return slices.ContainsFunc([]string{":5432", ":6432", ":3306", ":1433", ":1521"}, func(port string) bool { return strings.HasSuffix(peer, port) })
}
