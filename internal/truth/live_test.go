package truth

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/truth/calm"
)

// What must hold of every scenario. Nothing else that depends on time is asserted.
const (
	countPercent     = 0.5 // requests counted against requests sent
	p50Percent       = 5
	p50Slack         = 150_000 // ns
	precision        = 0.995
	causePercent     = 95 // of the requests, within the tolerance
	unaccountedShare = 0.02
	settle           = 300 * time.Millisecond // so that the last facts are drained
	midLoadEdge      = time.Second
	aroundFor        = 7 * time.Second // of load, before and after what is recorded of it
	maxShown         = 10
)

// machine is held by whoever plays a scenario: by several at once where that disturbs none.
var machine sync.RWMutex

// trying is how a scenario is to be tried: alone, or beside others once those of its test are over
// that are played alone. A test of quiet ones is itself parallel: they are beside those of other tests.
// What fails alone is put off until then, too: the host may have come to rest.
func (sc scenario) trying(t *testing.T) (try func(play func() []string)) {
	if !sc.quiet() {
		return func(play func() []string) {
			machine.Lock()
			defer machine.Unlock()
			calm.TryLater(t, func() {
				machine.Unlock()
				t.Parallel()
				machine.Lock()
			}, play)
		}
	}
	t.Parallel()
	return func(play func() []string) { tryBeside(t, play) }
}

// tryBeside plays a scenario beside others (besideEachOther). If there is
// a problem then, it is tried as the rest is, alone.
func tryBeside(t *testing.T, play func() []string) {
	t.Helper()
	problems := func() []string {
		machine.RLock()
		defer machine.RUnlock()
		return play()
	}()
	if len(problems) == 0 {
		return
	}
	machine.Lock()
	defer machine.Unlock()
	t.Logf("attempt 0 of %d: beside others: %s", calm.MostAttempts, strings.Join(problems, "; "))
	calm.Try(t, play)
}

// TestAgainstTruth records each truth service and compares what dwell rebuilt with
// what the client, the service and the upstream logged.
func TestAgainstTruth(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.runtime.name+"/"+sc.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.whole(t) })
		})
	}
}

// whole plays a scenario that is recorded from its beginning to its end.
func (sc scenario) whole(t *testing.T) []string {
	s := newStage(t, sc)
	s.send(sc, time.Second) // warm-up
	file, recorder := s.record()
	sent := s.send(sc, sc.playedFor())
	time.Sleep(settle)
	s.stop(recorder)
	tl := s.build(file)
	score := Compare(tl, s.truth(sent))
	show(t, sc, score)
	return sc.problems(score)
}

// TestAttachedUnderLoad records from the middle of a load: what lies well inside the
// recording is whole, what its ends cut is counted apart.
func TestAttachedUnderLoad(t *testing.T) {
	t.Parallel()
	for _, kind := range attached() {
		t.Run(kind.name, func(t *testing.T) {
			leaveOut(t)
			sc := scenario{name: "attached under load", runtime: kind, plan: plan{cpu: 200, calls: 1, delay: 4000}, rate: 120}
			try := sc.trying(t)
			try(func() []string { return sc.midLoad(t) })
		})
	}
}

func attached() []runtimeKind { return []runtimeKind{python(), node(), golang()} }

// midLoad plays a scenario whose load began before the recording and goes on after it.
func (sc scenario) midLoad(t *testing.T) []string {
	s := newStage(t, sc)
	done, failed := make(chan *load.Result, 1), make(chan error, 1)
	go func() {
		sent, err := s.try(sc, aroundFor+loadFor())
		done <- sent
		failed <- err
	}()
	file, recorder := s.record()
	time.Sleep(loadFor())
	s.stop(recorder)
	tl := s.build(file)
	sent, err := <-done, <-failed
	if err != nil {
		t.Fatal(err)
	}
	truth := s.truth(sent)
	truth.From = int64(tl.Start) + int64(midLoadEdge)
	truth.To = int64(tl.End) - int64(midLoadEdge)
	score := Compare(tl, truth)
	score.Misplaced = 0 // ordinals count from the start of the recording
	show(t, sc, score)
	return sc.problems(score)
}

// TestHealthyServicesGiveNoFinding: a false finding is worse than none.
func TestHealthyServicesGiveNoFinding(t *testing.T) {
	for _, sc := range healthyServices() {
		t.Run(sc.runtime.name+"/"+sc.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.healthy(t) })
		})
	}
}

func healthyServices() []scenario {
	return []scenario{
		{name: "honest 50 ms peer", runtime: python(), plan: plan{cpu: 500, calls: 1, delay: 50_000}, rate: 60},
		{name: "honest 50 ms peer", runtime: node(), plan: plan{cpu: 500, calls: 1, delay: 50_000}, rate: 60},
		{name: "honest 50 ms peer", runtime: golang(), plan: plan{cpu: 500, calls: 1, delay: 50_000}, rate: 60},
		{name: "70 % of what it can", runtime: python(), plan: plan{cpu: 2000, calls: 1, delay: 3000}},
		// A thread of Puma that has answered waits 0.2 s for more on that connection: on more
		// connections than it has threads, requests do wait for a thread.
		{name: "70 % of what it can", runtime: puma(), plan: plan{cpu: 2000, calls: 1, delay: 3000}, conns: 16},
		{name: "70 % of what it can", runtime: node(), plan: plan{cpu: 2000, calls: 1, delay: 3000}},
		{name: "70 % of what it can", runtime: golang(), plan: plan{cpu: 2000, calls: 1, delay: 3000}},
	}
}

// most is how many requests a second the service can serve while it is recorded: what a
// recorder takes from a busy service is not to make it one that has too much to do.
func (s *stage) most(sc scenario) float64 {
	sc.workers = 16
	file, recorder := s.record()
	defer os.Remove(file)
	defer s.stop(recorder)
	return s.send(sc, 3*time.Second).Summary().Rate
}

// healthy plays a scenario and returns what was found, which is too much.
func (sc scenario) healthy(t *testing.T) []string {
	s := newStage(t, sc)
	if sc.rate == 0 {
		sc.rate = 0.7 * s.most(sc)
	}
	s.send(sc, time.Second)
	file, recorder := s.record()
	sum := s.send(sc, judgedFor).Summary()
	s.stop(recorder)
	t.Logf("client: %.0f requests/s, p50 %.2f ms, p99 %.2f ms", sum.Rate, ms(sum.P50), ms(sum.P99))
	if found := s.findings(file); len(found) > 0 {
		return []string{fmt.Sprintf("findings on a healthy service: %q", found)}
	}
	return nil
}

// show prints one row of the table, and the causes below it.
func show(t *testing.T, sc scenario, s Score) {
	for i, e := range s.Missing {
		if i == maxShown {
			break
		}
		t.Logf("missing: %+v", e)
	}
	c := s.Calls
	t.Logf("%-6s %-28s requests %d/%d cut %d extra %d misplaced %d | p50 client %.2f dwell %.2f ms | unaccounted %.2f%% unknown %.2f%%",
		sc.runtime.name, sc.name, s.Matched, s.Sent, s.Cut, s.Extra, s.Misplaced, ms(s.ClientP50), ms(s.DwellP50),
		100*share(s.Unaccounted, s.Duration), 100*share(s.Unknown, s.Duration))
	if c.Exchanges > 0 {
		t.Logf("%-6s %-28s calls %d: right %d wrong %d unassociated %d unseen %d | precision %.4f recall %.4f",
			sc.runtime.name, sc.name, c.Exchanges, c.Right, c.Wrong, c.Unassigned, c.Unseen, c.Precision(), c.Recall())
	}
	if !sc.causes && !sc.shown {
		return
	}
	for _, a := range s.Causes {
		t.Logf("%-6s %-28s %-9v within %5.1f%% of %d | mean truth %.3f dwell %.3f ms | off: median %+.3f, 95%% below %.3f ms",
			sc.runtime.name, sc.name, a.Cause, 100*share(int64(a.Within), int64(a.Requests)), a.Requests,
			ms(a.Truth), ms(a.Dwell), ms(a.MedianOff), ms(a.P95Off))
	}
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// problems are what must hold of every scenario and does not.
func (sc scenario) problems(s Score) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if off := max(s.Sent-s.Matched-s.Cut, s.Extra); float64(off) > float64(s.Sent)*countPercent/100 || s.Cut > s.Sent/100 {
		say("%d requests sent, %d found, %d cut, %d extra", s.Sent, s.Matched, s.Cut, s.Extra)
	}
	if s.Misplaced > 0 {
		say("%d requests have another ordinal on their connection", s.Misplaced)
	}
	if off := s.ClientP50 - s.DwellP50; max(off, -off) > max(p50Slack, s.ClientP50*p50Percent/100) {
		say("p50: client %.3f ms, dwell %.3f ms", ms(s.ClientP50), ms(s.DwellP50))
	}
	if p := s.Calls.Precision(); p < precision {
		say("precision %.4f: %+v", p, s.Calls)
	}
	if r := s.Calls.Recall(); r < sc.recall {
		say("recall %.4f, want %v: %+v", r, sc.recall, s.Calls)
	}
	if u := share(s.Unaccounted, s.Duration); u > unaccountedShare {
		say("unaccounted: %.2f%%", 100*u)
	}
	if !sc.causes {
		return all
	}
	for _, a := range s.Causes {
		if a.Within*100 < a.Requests*causePercent && a.Cause != timeline.CauseRunnable {
			say("%v: within the tolerance for %d of %d requests only", a.Cause, a.Within, a.Requests)
		}
	}
	return all
}
