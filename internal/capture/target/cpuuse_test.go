package target

import (
	"os"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	all := parseCPUs("cpu  30 0 10 200 0 0 0 0\ncpu0 10 0 10 100 0 0 0 0\ncpu1 20 0 0 90 10 0 0 5 0 0\nintr 1\n")
	if want := (BusyIdle{200_000_000, 1_000_000_000}); len(all) != 2 || all[0] != want || all[1] != want {
		t.Errorf("%+v", all)
	}
}

func TestCPUTimeOfMyself(t *testing.T) {
	used, err := CPUTime(os.Getpid())
	if err != nil || used < 0 {
		t.Errorf("%d ns, %v", used, err)
	}
	set, err := Processors(os.Getpid())
	if err != nil || set.Count() == 0 {
		t.Errorf("%d processors, %v", set.Count(), err)
	}
}
