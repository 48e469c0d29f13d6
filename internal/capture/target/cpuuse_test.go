package target

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestParseCPUs(t *testing.T) {
	all := parseCPUs("cpu  30 0 10 200 0 0 0 0\ncpu0 10 0 10 100 0 0 0 0\ncpu1 20 0 0 90 10 0 0 5 0 0\nintr 1\n")
	if want := (BusyIdle{200_000_000, 1_000_000_000}); len(all) != 2 || all[0] != want || all[1] != want {
		t.Errorf("%+v", all)
	}
}

func TestCPUTimeOfMyself(t *testing.T) {
	before, err := CPUTime(os.Getpid())
	used := before
	for end := time.Now().Add(10 * time.Second); err == nil && used < before+int64(20*time.Millisecond); {
		if time.Now().After(end) {
			t.Fatalf("%d ns were used, and in 10 s of work no more than %d", before, used)
		}
		used, err = CPUTime(os.Getpid())
	}
	if err != nil {
		t.Error(err)
	}
}

func TestProcessorsOfMyself(t *testing.T) {
	set, err := Processors(os.Getpid())
	if err != nil || set.Count() != runtime.NumCPU() {
		t.Errorf("%d processors, want %d, %v", set.Count(), runtime.NumCPU(), err)
	}
}
