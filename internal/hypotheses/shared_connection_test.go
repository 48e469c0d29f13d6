package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// If a lock is held over the calls on one connection, fetching first and storing then does not help: threads that share
// a connection need one each. A cache that loads under its lock, on what happens to be one connection, is another case.
func TestWhoSharesAConnectionNeedsAPool(t *testing.T) {
	const (
		handler = " < com.shop.Handler.handle"
		reads   = "sun.nio.ch.Net.poll < "
		loads   = "com.shop.Ledger.load < java.util.concurrent.ConcurrentHashMap.computeIfAbsent < com.shop.Ledger.cached"
	)
	shared := func(enter, inside string) func(t *thread, burst int) {
		m, conn := &mutex{}, (*outgoing)(nil)
		return func(t *thread, _ int) {
			t.enter(m, entering+enter+handler)
			if conn == nil {
				conn = t.dial(200 * us)
			}
			t.asked(conn, 5000*us, reads+inside+handler)
			t.leave(m)
		}
	}
	for _, test := range []struct {
		of        string
		each      func(t *thread, burst int)
		want, not string
	}{
		{"a driver's lock", shared("org.postgresql.jdbc.ResourceLock.obtain < com.shop.Ledger.ask", "org.postgresql.core.PGStream.read < com.shop.Ledger.ask"),
			"threads share one connection to", "fetch first"},
		{"the service's own lock", shared("com.shop.Ledger.ask", "com.shop.Ledger.ask"),
			"take the lock to store the result; if the lock is there because threads share that connection, give them", "threads share one connection to"},
		{"a cache's lock", shared("java.util.concurrent.ConcurrentHashMap.computeIfAbsent < com.shop.Ledger.cached", loads),
			"fetch first", "threads share one connection to"},
		{"connections of their own", locked(token, func(t *thread) { keptCall(t, 5000*us) }), "fetch first", "share"},
	} {
		tl, err := build.Recording(done(bursts(newScenario(recording.RuntimeJVM), 4, test.each), 30))
		if err != nil {
			t.Fatal(err)
		}
		d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{refreshUnderLock()}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Fix, test.want) || strings.Contains(d.Findings[0].Fix, test.not) {
			t.Errorf("%s: %+v, want %q", test.of, d.Findings, test.want)
		}
	}
}

// asked makes one exchange, and waits for its answer in some code.
func (t *thread) asked(o *outgoing, remote recording.Time, path string) {
	t.compute(20 * us)
	at := t.chunk(o.id, &o.bytes, recording.Write, 80, 0)
	t.add(t.at, &recording.HTTPRequest{Conn: o.id, Offset: at, Head: 80, Method: "POST", Route: "/items/{}", Host: "db.test"})
	arrives := t.at + remote
	t.blocked(arrives, 10*us, "recvfrom", path)
	t.compute(10 * us)
	at = t.chunk(o.id, &o.bytes, recording.Read, 300, arrives)
	t.add(t.at, &recording.HTTPResponse{Conn: o.id, Offset: at, Head: 50, Length: 250, Status: 200})
}
