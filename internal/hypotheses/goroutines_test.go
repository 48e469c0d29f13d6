package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// The requests of a Go service wait 20 ms for something unknown. If the waits of goroutines were recorded, it is no
// lock. If they were not, or some were lost, it may be one. A stop of all goroutines counts only where a request could
// have run.
func TestWhatIsUnknownOfGoroutinesIsNoLock(t *testing.T) {
	const head = `
1ms manifest cpus=2 hooks="HOOKS"
1ms process id=1 pid=100 runtime=go comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`
	const request = `
%[1]d010ms chunk conn=1 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010ms last=%[1]d010ms goroutine=7
%[1]d010ms http-request conn=1 offset=%[2]d head=40 method=GET route=/a
%[1]d012ms off thread=1 since=%[1]d012ms woken=%[1]d012ms state=preempted goroutine=7
%[1]d012500us pause thread=1 since=%[1]d012200us
%[1]d012600us off thread=1 since=%[1]d012600us woken=%[1]d012600us state=preempted goroutine=7
%[1]d030ms off thread=1 since=%[1]d012700us woken=%[1]d029ms syscall=epoll_pwait waker-kind=interrupt
%[1]d030100us chunk conn=1 thread=1 dir=write offset=%[3]d bytes=60 goroutine=7
%[1]d030100us http-response conn=1 offset=%[3]d head=60 status=200
`
	const requests = 30
	story := head
	for i := range requests {
		story += fmt.Sprintf(request, i+1, 40*i, 60*i)
	}
	story += "MISSING90000ms end reason=time\n"
	for name, c := range map[string]struct {
		hooks, missing string
		hidden         bool
	}{
		"recorded":     {"sched io sockets arrivals goroutines parks", "", false},
		"not recorded": {"sched io sockets arrivals goroutines", "", true},
		"spent":        {"sched io sockets arrivals goroutines parks", "89000ms missing what=go-locks why=budget count=1\n", true},
	} {
		text := strings.NewReplacer("HOOKS", c.hooks, "MISSING", c.missing).Replace(story)
		rec, err := recording.ParseText(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		var hidden, halted Duration
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			hidden, halted = diagnosis.Total(hiddenLocks(c)), diagnosis.Total(stopped(c))
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
		if got := hidden > requests*10_000_000; got != c.hidden {
			t.Errorf("%s: hidden %v, want %v: %+v", name, got, c.hidden, tl.Requests[0].SegmentList())
		}
		if halted != requests*300_000 {
			t.Errorf("%s: stopped for %d ns, want 300,000 for each request", name, halted)
		}
	}
}

// Own CPU may hide stops of all goroutines exactly for as long as those were not recorded.
func TestStopsThatWereNotRecorded(t *testing.T) {
	for _, c := range []struct {
		from, to, want int
		hook           bool
	}{
		{30_000, 40_000, 0, true}, // between two requests
		{200, 300, 100, true},     // 100 us of the 700 us that each request computes
		{-1000, 10_000, 700, true},
		{30_000, 40_000, 810, false}, // none was ever recorded: another 110 us go by after the wait, or ready to run
	} {
		none := func(int) bool { return false }
		rec := waiting(none, func(l *goLines, _, at int) { l.at(at+c.to, "unseen what=go-pauses from=%dus", at+c.from) })
		if m := rec.Events[0].Fact.(*recording.Manifest); !c.hook {
			m.Hooks = strings.ReplaceAll(m.Hooks, " parks", "")
		}
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		var got Duration
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			got = diagnosis.Total(unseenPauses(c))
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
		if want := Duration(requestsPlayed * c.want * 1000); got != want {
			t.Errorf("unseen from %d to %d us, waits of goroutines recorded: %v: %d ns, want %d", c.from, c.to, c.hook, got, want)
		}
	}
}

// A goroutine lets another one go 50 us after 20 ms of which nothing is known. The stack of that does not show where it
// was before.
func TestWhereAGoroutineLetsGoIsNotWhereItWaited(t *testing.T) {
	none := func(int) bool { return false }
	rec := waiting(none, func(l *goLines, i, at int) {
		if i == 0 {
			l.at(1, `frame id=1 type=go function="http.(*connReader).abortPendingRead"`)
			l.at(1, "stack id=1 frame=1")
		}
		l.at(at+20_650, "unpark thread=1 goroutine=7 word=4100 stack=1")
	})
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	r := &tl.Requests[0]
	s := stay{diagnosis.Span{From: r.Start + 1_000_000, To: r.Start + 20_000_000}, r.Strand, timeline.None}
	did := tl.Doing(s.strand, s.From, s.To)
	if len(did) == 0 || !did[0].Later {
		t.Fatalf("%+v: expected the stack with which it lets go", did)
	}
	if got := stackOf(&diagnosis.Case{Timeline: tl}, &s); got != timeline.None {
		t.Errorf("stack %d, want none", got)
	}
}

// Requests of Go compute for 700 us while stops of all goroutines are not recorded: their CPU time may be the
// collector's. If stops are recorded, it may not.
func TestStopsThatWereNotRecordedLeaveItOpen(t *testing.T) {
	none := func(int) bool { return false }
	for to, want := range map[int]string{-500: "", 10_000: "passed while dwell did not record whether all goroutines were stopped"} {
		rec := waiting(none, func(l *goLines, _, at int) { l.at(at+to, "unseen what=go-pauses from=%dus", at-1000) })
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		var res diagnosis.Result
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			res = testGCPause(c)
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
		if res.Hides != want {
			t.Errorf("unseen until %d us: hides %q, want %q", to, res.Hides, want)
		}
	}
}
