package hypotheses

import (
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// Sessions of a database are kept open by a pool of sessions, not by an HTTP client.
func TestSessionsAreKeptByTheirOwnPools(t *testing.T) {
	text, err := os.ReadFile("testdata/client-per-request/session-supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl := built(t, string(text))
	for _, h := range []diagnosis.Hypothesis{clientPerRequest(), connectionChurn()} {
		d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{h}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Fix, "psycopg_pool.ConnectionPool") {
			t.Errorf("%s: %+v", h.ID, d.Findings)
		}
	}
}

// A client asks on a connection of its own whether the database speaks TLS, hears "no" after 2 ms and opens the next
// one, on which the session takes 3 ms. Kept sessions would save both.
func TestAskingForTLSIsPartOfOpeningASession(t *testing.T) {
	rec := done(serve(newScenario(recording.RuntimeGo), func(t *thread, _ int) {
		asks := t.session()
		t.add(t.at, &recording.ConnProtocol{Conn: asks.id, Protocol: recording.ProtocolPostgres})
		t.chunk(asks.id, &asks.bytes, recording.Write, 8, 0)
		arrives := t.at + 2000*us
		t.sleep(arrives, 10*us, "recvfrom")
		t.chunk(asks.id, &asks.bytes, recording.Read, 1, arrives)
		t.hangUp(asks, recording.ClosedByUs)
		o := t.session()
		t.statement(o, &recording.Command{Operation: "STARTUP"}, recording.TransactionIdle, 3000*us)
		t.statement(o, &recording.Command{Operation: "SELECT", Target: "items"}, recording.TransactionIdle, 400*us)
		t.hangUp(o, recording.ClosedByUs)
	}), 30)
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{connectionChurn()}, diagnosis.Options{})
	if len(d.Findings) != 1 || d.Findings[0].Impact.Mean < 5_200_000 {
		t.Errorf("%+v: a saving of 5 ms and two connections is expected", d.Findings)
	}
}

// built returns the timeline of a recording in text form.
func built(t *testing.T, text string) *timeline.Timeline {
	t.Helper()
	rec, err := recording.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// fewKept is a service whose requests ask a database on sessions; a pool keeps one in six of them.
func fewKept() *scenario {
	var kept *outgoing
	return serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
		o := kept
		if i%6 != 1 {
			o = t.session()
			t.statement(o, &recording.Command{Operation: "STARTUP"}, recording.TransactionIdle, 3000*us)
		}
		t.statement(o, &recording.Command{Operation: "SELECT", Target: "items"}, recording.TransactionIdle, 400*us)
		if kept = nil; i%6 == 0 {
			kept = o
			return
		}
		t.hangUp(o, recording.ClosedByUs)
	})
}
