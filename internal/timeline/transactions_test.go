package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Each case is a session: when each command was sent, its name, when it was answered, and the transaction state that
// the server then reported ("" if that was not captured).
func TestTransactions(t *testing.T) {
	for what, c := range map[string]struct{ session, want string }{
		"between the server's words":    {"10 STARTUP 20 idle|30 BEGIN 40 open|50 INSERT 60 open|90 COMMIT 100 idle|110 SELECT 120 idle", "30..100 idle=40 calls=3"},
		"one command, one transaction":  {"10 INSERT 20 idle|30 SELECT 40 idle", ""},
		"BEGIN sent with its first":     {"5 STARTUP 6 idle|10 SELECT 20 open|50 ROLLBACK 60 idle", "10..60 idle=30 calls=2"},
		"failed is open still":          {"10 BEGIN 20 open|30 INSERT 40 failed|70 ROLLBACK 80 idle", "10..80 idle=40 calls=3"},
		"a state that was not captured": {"10 BEGIN 20 open|30 SELECT 40 |60 SELECT 70 |80 COMMIT 90 idle", "10..90 idle=40 calls=4"},
		"none was captured":             {"10 BEGIN 20 |30 SELECT 40 |60 COMMIT 70 |90 SELECT 95 ", "10..70 idle=30 calls=3 inferred"},
		"back to a savepoint":           {"10 BEGIN 20 open|30 ROLLBACK 40 |60 COMMIT 70 idle", "10..70 idle=30 calls=3"},
		"open at the end":               {"10 BEGIN 20 open|30 SELECT 40 open", "10..40 idle=10 calls=2 cut"},
		"two":                           {"10 BEGIN 20 open|25 COMMIT 30 idle|40 BEGIN 45 open|50 COMMIT 60 idle", "10..30 idle=5 calls=2; 40..60 idle=5 calls=2"},
		"sent ahead":                    {"10 BEGIN 20 open|10 SELECT 30 open|10 COMMIT 40 idle", "10..40 idle=0 calls=3"},
		"over TLS, rolled back":         {"10 BEGIN 20|30 ROLLBACK 40|90 SELECT 95", "10..40 idle=10 calls=2 inferred"},
		"joined in the midst of it":     {"10 SELECT 20 open|50 COMMIT 60 idle", "10..60 idle=30 calls=2 inferred"},
	} {
		tl := &Timeline{}
		for i, step := range strings.Split(c.session, "|") {
			var call Call
			var state string
			fmt.Sscanf(step, "%d %s %d %s", &call.SendFrom, &call.Operation, &call.End, &state)
			call.ID, call.Ordinal, call.Conn, call.Protocol = CallID(i), i, 1, recording.ProtocolPostgres
			if strings.HasPrefix(what, "over TLS") {
				call.Protocol = recording.ProtocolTLS
			}
			for s := recording.TransactionUnknown; s <= recording.TransactionFailed; s++ {
				if s.String() == state {
					call.Transaction = s
				}
			}
			tl.Calls = append(tl.Calls, call)
		}
		var got []string
		for _, x := range tl.Transactions() {
			s := fmt.Sprintf("%d..%d idle=%d calls=%d", x.From, x.To, x.Idle, len(x.Calls))
			if x.Cut {
				s += " cut"
			}
			if x.Inferred {
				s += " inferred"
			}
			got = append(got, s)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %s, want %s", what, strings.Join(got, "; "), c.want)
		}
	}
}
