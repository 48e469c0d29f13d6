package timeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Transaction is a span in which a database session was in a transaction.
type Transaction struct {
	Conn     recording.ConnID
	Peer     string
	From, To Time     // its first command was sent, the reply to its last one was read
	Calls    []CallID // made in it, in order
	Idle     Duration // of its span, no command of it was under way: the session was idle in transaction
	Cut      bool     // the recording or the connection ended before it
	Inferred bool     // its end or beginning rests on a command's name: the server's word was not seen
}

// Transactions finds the transactions of PostgreSQL and MySQL sessions, in order of their start. A
// session's state is what its server says after each command; where that was not
// captured, or is encrypted, what the command's name tells.
func (t *Timeline) Transactions() []Transaction {
	sessions := map[recording.ConnID][]CallID{}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Protocol.SQL() || c.Protocol == recording.ProtocolTLS && c.Operation != "" {
			sessions[c.Conn] = append(sessions[c.Conn], c.ID)
		}
	}
	var all []Transaction
	for _, calls := range sessions {
		slices.SortFunc(calls, func(a, b CallID) int { return cmp.Compare(t.Calls[a].Ordinal, t.Calls[b].Ordinal) })
		all = append(all, t.session(calls)...)
	}
	slices.SortFunc(all, func(a, b Transaction) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Conn, b.Conn)) })
	return all
}

// session finds the transactions of one connection.
func (t *Timeline) session(calls []CallID) []Transaction {
	var out []Transaction
	var open *Transaction
	for _, id := range calls {
		c := &t.Calls[id]
		state, inferred := stateAfter(c, open != nil)
		if open == nil && !state {
			continue
		}
		if open == nil {
			out = append(out, Transaction{Conn: c.Conn, Peer: c.Peer, From: c.SendFrom, To: c.SendFrom})
			open = &out[len(out)-1]
			inferred = inferred || c.Operation != "BEGIN" && c.Ordinal == 0 // joined in the midst of it
		}
		open.Idle += max(0, c.SendFrom.Sub(open.To))
		open.To = max(open.To, c.End)
		open.Calls = append(open.Calls, id)
		open.Cut = c.Cut
		open.Inferred = open.Inferred || inferred
		if !state {
			open = nil
		}
	}
	if open != nil {
		open.Cut = true
	}
	return out
}

// stateAfter tells whether a session is in a transaction after a call, and whether that
// was inferred.
func stateAfter(c *Call, before bool) (open, inferred bool) {
	switch c.Transaction {
	case recording.TransactionIdle:
		return false, false
	case recording.TransactionOpen, recording.TransactionFailed:
		return true, false
	}
	verb, _, _ := strings.Cut(c.Operation, " ")
	switch verb {
	case "BEGIN", "START":
		return true, true
	case "COMMIT", "END", "ABORT":
		return false, true
	case "ROLLBACK": // it may be to a savepoint; of a session of which no answer is seen, rather too short than too long
		if c.Protocol == recording.ProtocolTLS {
			return false, true
		}
	}
	return before, false
}

// InTransaction reports a call after which its session is held for who made it.
func InTransaction(c *Call) bool {
	return c.Transaction == recording.TransactionOpen || c.Transaction == recording.TransactionFailed
}
