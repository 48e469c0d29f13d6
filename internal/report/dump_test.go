package report_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// javaSource returns what a source root might contain.
func javaSource(file string, from, to int64) []string {
	if file != "com/shop/PriceCache.java" {
		return nil
	}
	lines := []string{41: "", 42: "  synchronized Price get(String sku) {", 43: "    if (token.expired())", 44: "      token = credentials.refresh();", 45: "  }"}
	return lines[from:min(to+1, int64(len(lines)))]
}

// The convoy of testdata/convoy.txt in the middle of its longest span:
//
//	exec-1 |--lock--fetch .......................--|
//	exec-2      |---- waits for exec-1 ------------|--|
//	exec-3         |- waits for exec-1, then exec-2 --|--|
//	                        ^ the dump
func TestDumpOfAConvoy(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	at, n := report.MostBlocked(tl)
	if n != 4 {
		t.Fatalf("%d threads blocked at once, want 4", n)
	}
	d := report.NewDump(tl, report.DumpOptions{At: at, Chosen: "where most were blocked", Source: javaSource})
	golden(t, "convoy-threads.golden", func(w io.Writer) error {
		return report.DumpText(w, d, report.DumpTextOptions{Who: "java (pid 100)", Frames: 4})
	})
	golden(t, "convoy-threads.json", func(w io.Writer) error { return report.DumpJSON(w, d) })
	if len(d.Blockers) != 1 || d.Blockers[0].Name != "http-nio-80-exec-1" || d.Blockers[0].Blocks != 4 {
		t.Errorf("blockers %+v, want exec-1 with four behind it", d.Blockers)
	}
	end := report.NewDump(tl, report.DumpOptions{At: tl.End - 1})
	if len(end.Blockers) != 0 || end.Counts.Waiting != 5 {
		t.Errorf("at the end %+v with blockers %v, want five idle threads", end.Counts, end.Blockers)
	}
}

func TestInstantsByCondition(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	for text, want := range map[string]int{"blocked>50%": 1, "blocked>3": 1, "blocked>4": 0, "running>0": 8} {
		c, err := report.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.When(tl, c); len(got) != want || !slices.IsSorted(got) {
			t.Errorf("%s holds from %v on, want %d times", text, got, want)
		}
	}
	for _, text := range []string{"", "blocked", "blocked>", "blocked>x", "blocked>-1", "blocked>100%", "asleep>3"} {
		if _, err := report.ParseCondition(text); err == nil {
			t.Errorf("%q is taken for a condition", text)
		}
	}
}

// One thread holds a lock repeatedly. After 20 ms it releases it, wakes the two others and takes it again before they
// run, in the middle of their waits. The chosen instant is one at which they sleep, as the dump confirms.
//
//	holder |--had---------------||--had--------------------|
//	first  |-- waits ----------- * ------------------------|
//	second |-- waits ----------- * ------------------------|
func TestTheChosenInstantIsNoneOfAHandOver(t *testing.T) {
	tl, _ := load(t, vain, diagnosis.Options{})
	at, n := report.MostBlocked(tl)
	d := report.NewDump(tl, report.DumpOptions{At: at})
	if len(tl.Waits) != 2 || n != 2 || d.Counts.Blocked != n {
		t.Errorf("%d waits; %d blocked at once, and %+v at that instant; want 2 of each", len(tl.Waits), n, d.Counts)
	}
}

const vain = `# dwell recording, text form 1
1000 manifest tool=scenario kernel=6.18.0 arch=amd64 cpus=2 hooks="sched stacks wakings" target=pid
1000 process id=1 pid=100 comm=app exe=app
1000 thread id=1 tid=101 process=1 name=holder
1000 thread id=2 tid=102 process=1 name=first
1000 thread id=3 tid=103 process=1 name=second
1000 thread-state thread=1 on=1
1000 thread-state thread=2 on=1
1000 thread-state thread=3 on=1
1000 frame id=1 function=pthread_mutex_lock module=libc.so.6
1000 frame id=2 function=transfer module=app
1000 stack id=1 frame=2
1000 stack id=2 caller=1 frame=1
1002000 stack-at thread=2 stack=2 origin=blocked
1002000 stack-at thread=3 stack=2 origin=blocked
20990000 off thread=2 since=1000000 woken=20980000 waker-kind=thread waker=1 release=1 syscall=futex arg=4096 sp=900
20990000 off thread=3 since=1000000 woken=20980000 waker-kind=thread waker=1 release=1 syscall=futex arg=4096 sp=900
41010000 off thread=2 since=21010000 woken=41000000 waker-kind=thread waker=1 release=1 syscall=futex arg=4096 sp=900
41010000 off thread=3 since=21010000 woken=41000000 waker-kind=thread waker=1 release=1 syscall=futex arg=4096 sp=900
60000000 end reason=time
`

// A deadlock of two threads is shown once, and as a deadlock.
func TestDeadlock(t *testing.T) {
	tl, _ := view(t, "deadlock.txt")
	d := report.NewDump(tl, report.DumpOptions{At: tl.Start + timeline.Time(30_000_000), Chosen: "as asked for"})
	if len(d.Blockers) != 1 || !d.Blockers[0].Deadlock {
		t.Errorf("blockers %+v, want one circle", d.Blockers)
	}
	golden(t, "deadlock.golden", func(w io.Writer) error {
		return report.DumpText(w, d, report.DumpTextOptions{Who: "app (pid 100)"})
	})
}

// For every recording and instant, each thread is counted once, under one state.
func TestDumpsOfEveryRecording(t *testing.T) {
	files, err := filepath.Glob(stories + "*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tl, _ := load(t, string(text), diagnosis.Options{})
		for i := range 8 {
			at := tl.Start + (tl.End-tl.Start)*timeline.Time(i)/8
			d := report.NewDump(tl, report.DumpOptions{At: at})
			c := d.Counts
			if c.Threads != len(d.Threads) || c.Running+c.Runnable+c.Blocked+c.Waiting+c.Idle+c.Unknown != c.Threads {
				t.Errorf("%s at %d: %+v of %d threads", file, at, c, len(d.Threads))
			}
			if err := report.DumpText(io.Discard, d, report.DumpTextOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
}

// Goroutine 8 waits from 10 to 20 ms for what goroutine 7 holds. Goroutine 7 serves no request, and only the place
// where it releases is known. Both threads sleep from 13 to 19 ms.
func TestDumpOfAGoroutineThatServesNobody(t *testing.T) {
	tl, _ := load(t, `1ms manifest cpus=2 hooks="sched stacks parks goroutines"
1ms process id=1 pid=100 runtime=go comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 on=1
1ms frame id=1 type=go function=main.export file=main.go line=9
1ms stack id=1 frame=1
19ms off thread=2 since=13ms woken=19ms state=sleep syscall=futex
20ms off thread=1 since=12ms woken=20ms state=sleep syscall=futex
20ms unpark thread=1 goroutine=7 word=1004 stack=1
20010us park thread=2 left=1 goroutine=8 since=10ms reason=mutex object=1000 word=1004 stack=1
60ms end reason=time
`, diagnosis.Options{})
	at, n := report.MostBlocked(tl)
	if at != 15_000_000 || n != 1 {
		t.Fatalf("%d threads blocked at %v, want 1 at 15 ms", n, at)
	}
	d := report.NewDump(tl, report.DumpOptions{At: at})
	if len(d.Blockers) != 1 || d.Blockers[0].Name != "goroutine 7" || d.Blockers[0].Blocks != 1 {
		t.Fatalf("blockers %+v, want goroutine 7", d.Blockers)
	}
	for _, th := range d.Threads {
		if th.Name == "goroutine 7" && (th.State != "waiting" || th.For != 2_000_000 || th.Seen.How != "release" || th.Stack[0].Name != "main.export") {
			t.Errorf("goroutine 7 is %+v, want it asleep for 2 ms until main.export lets go", th)
		}
	}
}
