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
	From, To Time     // when its first command was sent, and when the reply to its last one was read
	Calls    []CallID // made in it, in order
	Idle     Duration // how much of its span no command was under way: the session was idle in transaction
	Cut      bool     // the recording or the connection ended before it
	Inferred bool     // its end or beginning is inferred from a command's name: the server's own report was not seen
}

// Transactions finds the transactions of PostgreSQL and MySQL sessions, in order of start. A session's state is what
// its server reports after each command. If that was not captured, or is encrypted, the command's name decides.
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
			inferred = inferred || c.Operation != "BEGIN" && c.Ordinal == 0 // joined in the middle
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

// stateAfter reports whether a session is in a transaction after a call, and whether that was inferred.
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
	case "ROLLBACK": // may be to a savepoint; if no answer is seen (TLS), prefer too short a transaction to too long a one
		if c.Protocol == recording.ProtocolTLS {
			return false, true
		}
	}
	return before, false
}

// InTransaction reports whether the session stays reserved for the call's owner after the call.
func InTransaction(c *Call) bool {
	return c.Transaction == recording.TransactionOpen || c.Transaction == recording.TransactionFailed
}
