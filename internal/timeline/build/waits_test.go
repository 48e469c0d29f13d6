package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Each file of testdata/waits is one behaviour: a story, a recording, and the expected waits with their holders.
func TestWaits(t *testing.T) {
	files, err := filepath.Glob("testdata/waits/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test recordings: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tl := parsed(t, ar.Files[0].Data)
			got := renderWaits(tl)
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("(-expected +built)\n%s", diff)
			}
		})
	}
}

// parsed builds a timeline of the text form of a recording, and validates it.
func parsed(t *testing.T, text []byte) *timeline.Timeline {
	t.Helper()
	rec, err := recording.ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range timeline.Validate(tl) {
		t.Error(err)
	}
	return tl
}

// renderWaits writes one Wait per line, and its Holds below. Times are in microseconds.
func renderWaits(t *timeline.Timeline) string {
	var b strings.Builder
	us := func(at recording.Time) string {
		if at == recording.NoTime {
			return "?"
		}
		return micros(recording.Duration(at))
	}
	for i := range t.Waits {
		w := &t.Waits[i]
		fmt.Fprintf(&b, "%s %s..%s %v %s %v", who(t, w.Strand), us(w.From), us(w.To), w.Cause, w.Rule, w.Quality)
		if w.Lock != timeline.None {
			fmt.Fprintf(&b, " for %q", t.Locks[w.Lock].Name)
		}
		if w.Borrowed {
			b.WriteString(" borrowed")
		}
		if w.Request != timeline.None {
			fmt.Fprintf(&b, " request=%d", w.Request)
		}
		b.WriteByte('\n')
		for _, h := range w.Holds {
			fmt.Fprintf(&b, "  %s..%s %s since %s %s\n", us(h.From), us(h.To), who(t, h.Strand), us(h.Since), []string{"release", "owner", "yield"}[h.Basis])
		}
	}
	return b.String()
}

// who names a strand.
func who(t *timeline.Timeline, id timeline.StrandID) string {
	if g := t.Strands[id].Goroutine; g != recording.NoGoroutine {
		return fmt.Sprintf("goroutine %d", g)
	}
	return fmt.Sprintf("thread %d", t.Strands[id].Thread)
}

// Holders follow from the wakers: with other wakers, the holders are others.
func TestHoldersAreTheWakers(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/waits/monitor_convoy.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := string(ar.Files[0].Data)
	swapped := strings.NewReplacer("waker=1", "waker=3", "waker=3", "waker=1").Replace(text)
	for facts, want := range map[string][2]timeline.StrandID{text: {0, 1}, swapped: {2, 1}} {
		tl := parsed(t, []byte(facts))
		var got [2]timeline.StrandID
		for i := range tl.Waits {
			if w := &tl.Waits[i]; w.Strand != 2 && w.From < 11_000_000 {
				got[0] = w.Holds[0].Strand
			} else if w.Strand == 2 {
				got[1] = w.Holds[len(w.Holds)-1].Strand
			}
		}
		if got != want {
			t.Errorf("the first holder and that of thread 3's wait are strands %v, want %v", got, want)
		}
	}
}

// CPython enters what C calls through a frame of its own: stacks are reported without it, wherever it is.
func TestStacksHaveNoGlue(t *testing.T) {
	tl := parsed(t, []byte(`
1ms manifest cpus=2 hooks="sched stacks"
1ms process id=1 pid=100 runtime=python comm=python
1ms thread id=1 tid=101 process=1
1ms frame id=1 type=python function=run file=/srv/app.py
1ms frame id=2 type=python function="<interpreter trampoline>" file="<shim>" line=1
1ms frame id=3 type=python function=total file=/srv/app.py
1ms stack id=1 frame=1
1ms stack id=2 caller=1 frame=2
1ms stack id=3 caller=2 frame=3
12ms stack-at thread=1 stack=2 origin=on-cpu
16ms stack-at thread=1 stack=3 origin=on-cpu
60ms end reason=time
`))
	var got []string
	for _, at := range tl.Strands[0].Stacks {
		for _, f := range tl.StackFrames(at.Stack) {
			got = append(got, f.Function)
		}
	}
	if want := []string{"run", "total", "run"}; !slices.Equal(got, want) {
		t.Errorf("stacks are of %v, want %v", got, want)
	}
}

// What a strand did in a span: it computed, and samples show where; it waited for a call; it waited for a lock; it was
// ready to run.
func TestDoing(t *testing.T) {
	tl := parsed(t, []byte(`
1ms manifest cpus=2 hooks="sched stacks io sockets"
1ms process id=1 pid=100 runtime=jvm comm=java
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms frame id=1 type=jvm function="void shop.Sums.add()"
1ms frame id=2 type=jvm function="void shop.Sums.mul()"
1ms frame id=3 type=jvm function="_complete_monitor_locking_Java"
1ms stack id=1 frame=1
1ms stack id=2 frame=2
1ms stack id=3 caller=1 frame=3
1ms conn id=1 side=out process=1 thread=1 local=127.0.0.1:5000 peer=127.0.0.1:80 existing=1
12ms stack-at thread=1 stack=1 origin=on-cpu
16ms stack-at thread=1 stack=2 origin=on-cpu
20ms chunk conn=1 thread=1 dir=write bytes=40
20ms http-request conn=1 head=40 method=GET route=/a
31ms off thread=1 since=20ms woken=30ms syscall=recvfrom arg=5
32ms chunk conn=1 thread=1 dir=read bytes=40 arrived=30ms last=30ms
32ms http-response conn=1 head=40 status=200
40ms stack-at thread=1 stack=3 origin=blocked
50ms off thread=1 since=40ms woken=50ms syscall=futex arg=8 sp=1 waker-kind=thread waker=2 release=1
60ms end reason=time
`))
	var got []string
	for _, a := range tl.Doing(0, 10_000_000, 50_000_000) {
		line := fmt.Sprintf("%d..%d %v", a.From/1_000_000, a.To/1_000_000, a.Cause)
		if a.Call != timeline.None {
			line += fmt.Sprintf(" call %d %v", a.Call, a.Phase)
		}
		if a.Wait != timeline.None {
			line += " for " + tl.Locks[tl.Waits[a.Wait].Lock].Name
		}
		if f, ok := tl.SiteOf(a.Stack); ok {
			line += " in " + symbol.Name(f)
		}
		got = append(got, line)
	}
	want := []string{"10..14 on-cpu in Sums.add", "14..20 on-cpu in Sums.mul", "20..30 remote call 0 remote", "30..31 runnable", "31..40 on-cpu", "40..50 lock for Sums.add in Sums.add"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The holders of a lock while others waited for it: each span appears once, whichever strand waited.
func TestTenures(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/waits/monitor_convoy.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl := parsed(t, ar.Files[0].Data)
	var got []string
	for _, h := range tl.Tenures(0) {
		got = append(got, fmt.Sprintf("%d..%d thread %d", h.From/1_000_000, h.To/1_000_000, tl.Strands[h.Strand].Thread))
	}
	want := []string{"10..30 thread 1", "30..45 thread 2", "50..60 thread 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
