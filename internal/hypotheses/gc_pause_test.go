package hypotheses

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// collectedBeside plays a Go service on one processor. Requests 50 ms apart compute 1.2 ms each. Every third one waits
// 8 ms for the processor meanwhile, which another thread uses for what does names.
func collectedBeside(does string) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=1 hooks="sched io sockets arrivals goroutines go-calls parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us thread id=2 tid=102 process=1`, `000000001us thread-state thread=2 on=0 syscall=futex`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
		`000000001us frame id=1 type=go function=main.handle`, `000000001us stack id=1 frame=1`,
		`000000001us frame id=2 type=go function=` + does, `000000001us stack id=2 frame=2`,
	}
	slept, worked := 1, 1 // since when each thread is off its processor
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", slept, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		for k := range 3 {
			l.at(at+100+300*k, "stack-at thread=1 stack=1 origin=on-cpu goroutine=7")
		}
		end := at + 1200
		if i%3 == 0 {
			l.at(at+1000, "off thread=2 since=%dus woken=%dus syscall=futex", worked, at+990)
			for k := range 8 {
				l.at(at+1500+1000*k, "stack-at thread=2 stack=2 origin=on-cpu")
			}
			end, worked = at+9200, at+9000
			l.at(at+9000, "off thread=1 since=%dus woken=%dus state=preempted goroutine=7", at+1000, at+1000)
		}
		l.at(end, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(end+1, "http-response conn=1 offset=%d head=60 status=200", 60*i)
		slept = end + 50
	}
	return l.recording()
}

// Node's loop waits a moment for the threads that help its collector, and itself collects for long: the pauses are not
// what takes the time.
func TestPausedWords(t *testing.T) {
	const onThreads = ", on the threads that serve them"
	pauses := []Duration{1 * milli, 4 * milli}
	for _, x := range []struct {
		pauses                 []Duration
		stopped, queued, total Duration
		want                   string
	}{
		{nil, 0, 0, 200 * milli, onThreads},
		{pauses, 5 * milli, 0, 200 * milli, onThreads},
		{pauses, 5 * milli, 0, 5 * milli, ", in 2 pauses of up to 4.00 ms"},
		{pauses, 5 * milli, 100 * milli, 200 * milli, ", mostly because the collector's own threads use the processors"},
	} {
		if got := pausedWords(x.pauses, x.stopped, x.queued, x.total); got != x.want {
			t.Errorf("%v, %d of %d: %q, want %q", x.pauses, x.stopped, x.total, got, x.want)
		}
	}
}

// Another program has the processor for 1 ms after each 2 ms of a request's 20 ms. Of its ten pieces two have a sample,
// both of the collector. The other pieces are the collector's too: the clock's period is longer than they are.
func TestPiecesBetweenSamplesAreWhatThoseAre(t *testing.T) {
	text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals samples stacks"
1ms process id=1 pid=100 runtime=ruby comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms frame id=1 type=ruby function="(marking)"
1ms stack id=1 frame=1
`
	rested := 1
	for i := range requestsPlayed {
		at := 100 * (i + 1)
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", ms) + fmt.Sprintf(format, args...) + "\n"
		}
		say(at, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", rested, at)
		say(at, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", 40*i, at, at)
		say(at, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		for k := range 9 {
			if k == 1 || k == 5 {
				say(at+3*k+1, "stack-at thread=1 stack=1 origin=on-cpu")
			}
			say(at+3*k+3, "off thread=1 since=%dms woken=%dms state=preempted", at+3*k+2, at+3*k+2)
		}
		say(at+29, "chunk conn=1 thread=1 dir=write offset=%d bytes=60", 60*i)
		say(at+29, "http-response conn=1 offset=%d head=60 status=200", 60*i)
		rested = at + 29
	}
	var did *collected
	h := gcPause()
	h.Test = func(c *diagnosis.Case) diagnosis.Result {
		did = collecting(c)
		return testGCPause(c)
	}
	diagnosis.Diagnose(built(t, text+"4000ms end reason=time\n"), []diagnosis.Hypothesis{h}, diagnosis.Options{})
	if got := diagnosis.Total(did.spans); got != requestsPlayed*20*milli || did.samples != 2*requestsPlayed {
		t.Errorf("the collector works for %v, by %d samples", got, did.samples)
	}
}

// The stops are those in the recording of a JVM that collects, in threads that call System.gc, as the JDK itself does
// once direct memory has run out.
func TestCollectionsThatAreAskedFor(t *testing.T) {
	text, err := os.ReadFile("testdata/gc-pause/supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	asks := strings.Replace(string(text), "frame id=2 function=SafepointSynchronize::block module=libjvm.so", "frame id=2 type=jvm function=java.lang.Runtime.gc", 1)
	for text, want := range map[string]bool{string(text): false, asks: true} {
		d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{gcPause()}, diagnosis.Options{})
		if len(d.Findings) != 1 {
			t.Fatalf("findings: %+v", d.Findings)
		}
		f := d.Findings[0]
		if strings.HasSuffix(f.Title, "; the code itself asks for most of it (System.gc), in Handler.handle") != want || strings.HasPrefix(f.Fix, "do not ask for it") != want {
			t.Errorf("asked for: %t; %s; %s", want, f.Title, f.Fix)
		}
	}
}
