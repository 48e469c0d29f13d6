package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

const storageHead = `# dwell recording, text form 1
1000 manifest tool=t kernel=6 arch=amd64 cpus=2 hooks="io memory processes sched storage" target=pid
1000 process id=1 pid=100 comm=shop exe=shop runtime=python
1000 thread id=1 tid=101 process=1 name=worker
1000 thread id=2 tid=102 process=1 name=grower
`

func storageTimeline(t *testing.T, facts string) *timeline.Timeline {
	t.Helper()
	rec, err := recording.ParseText(strings.NewReader(storageHead + facts))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range recording.Validate(rec) {
		t.Error(problem)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// A recorded sync has its full length; of an unrecorded one, only the sleep is known.
func TestSyncsAreRecordedWhole(t *testing.T) {
	tl := storageTimeline(t, `
2000 file id=1 name=orders.db size=4096
20000 off thread=1 since=15000 woken=19000 state=disk syscall=fsync arg=3 file=1
34000 sync thread=1 since=10000 syscall=fsync file=1
50000 off thread=1 since=40000 woken=49000 state=disk syscall=syncfs arg=3
90000 end reason=time
`)
	var got []string
	for _, id := range tl.SyncsOf[0] {
		s := &tl.Syncs[id]
		got = append(got, fmt.Sprintf("%d-%d %s", s.From, s.To, s.Syscall))
	}
	if want := "10000-34000 fsync, 40000-50000 syncfs"; strings.Join(got, ", ") != want {
		t.Errorf("syncs %s, want %s", strings.Join(got, ", "), want)
	}
}

// Two syncs: the first sleeps twice and is preempted in between; before the second one the thread writes again.
func TestSyncsAreCalls(t *testing.T) {
	tl := storageTimeline(t, `
2000 file id=1 name=orders.db size=4096
20000 off thread=1 since=10000 woken=19000 state=disk syscall=fsync arg=3 file=1 out=8192
22000 off thread=1 since=21000 woken=21000 state=preempted syscall=fsync arg=3
30000 off thread=1 since=25000 woken=29000 state=disk syscall=fsync arg=3 file=1
50000 off thread=1 since=40000 woken=49000 state=disk syscall=fsync arg=3 file=1 out=100
60000 file id=1 name=orders.db size=12288
90000 end reason=time
`)
	var got []string
	for _, s := range tl.Syncs {
		got = append(got, fmt.Sprintf("%d-%d file %d", s.From, s.To, s.File))
	}
	if want := "10000-30000 file 1, 40000-50000 file 1"; strings.Join(got, ", ") != want {
		t.Errorf("syncs %s, want %s", strings.Join(got, ", "), want)
	}
	if f := tl.Files[1]; f.Name != "orders.db" || f.First != 4096 || f.Size != 12288 {
		t.Errorf("file %+v", f)
	}
	if u, want := tl.Usage(1, tl.Start, tl.End), (timeline.Usage{Out: 8292}); u != want {
		t.Errorf("usage %+v, want %+v", u, want)
	}
	if u := tl.Usage(1, 30000, tl.End); u.Out != 100 {
		t.Errorf("usage from 30 us on %+v, want 100 bytes out", u)
	}
}

// The first sleep in munmap is for the address space, which another thread changes. The second one is not, and neither
// is the sleep in a page fault.
func TestWaitsForAddressSpaces(t *testing.T) {
	tl := storageTimeline(t, `
2000 file id=1 name=orders.db
3000 mapping thread=2 syscall=mmap bytes=1048576 file=1
9000 mapping thread=2 syscall=mmap bytes=2097152 file=1
20000 off thread=1 since=10000 woken=19000 state=disk syscall=munmap
20100 memory-wait thread=1 since=9900 syscall=munmap write=1 owner=2
40000 off thread=1 since=30000 woken=39000 state=disk syscall=munmap
60000 off thread=1 since=50000 woken=59000 state=disk file=1 major=1
90000 end reason=time
`)
	var got []string
	for _, w := range tl.Waits {
		got = append(got, fmt.Sprintf("%s %s %s", w.Rule, w.Cause, tl.FileName(w.Off)))
	}
	want := "memory-lock page-fault , disk disk , page-fault page-fault orders.db"
	if strings.Join(got, ", ") != want {
		t.Errorf("waits %s, want %s", strings.Join(got, ", "), want)
	}
	if w := tl.MemoryWaitIn(0, 10000, 19000); w == nil || tl.Strands[w.Owner].Name != "grower" || !w.Write {
		t.Errorf("the wait is %+v, want one for thread grower", w)
	}
	if w := tl.MemoryWaitIn(0, 30000, 39000); w != nil {
		t.Errorf("the second sleep has a wait %+v", w)
	}
	if m := tl.Mappings; len(m) != 2 || m[0].Before != 0 || m[1].Before != 1<<20 {
		t.Errorf("mappings %+v", m)
	}
}
