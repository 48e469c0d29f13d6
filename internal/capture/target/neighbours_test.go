package target

import (
	"os/exec"
	"testing"
	"time"
)

// TestNeighboursAreToldOfFromTheSecondSampleOn: without an earlier sample it is not known when a process used its
// processor time. Watched processes are not neighbours.
func TestNeighboursAreToldOfFromTheSecondSampleOn(t *testing.T) {
	var n Neighbours
	if got := n.Sample(func(int) bool { return false }); len(got) != 0 {
		t.Errorf("the first sample tells of %+v", got)
	}
	if len(n.last) == 0 {
		t.Fatal("no process was seen")
	}
	for k := range n.last { // as if each had just used a second
		n.last[k] -= 1_000_000_000
	}
	got := n.Sample(func(pid int) bool { return pid == 1 })
	if len(got) == 0 || len(got) > neighboursTold {
		t.Fatalf("%d programs are told of", len(got))
	}
	for k := range n.last {
		n.last[k] -= 1_000_000_000
	}
	for _, x := range n.Sample(func(int) bool { return true }) {
		t.Errorf("all are watched, and %s is told of", x.Comm)
	}
}

// The name of a program is as in /proc, and stays known when the program has ended; a program that was never seen has none.
func TestNamesOfPrograms(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var p Programs
	pid := uint32(cmd.Process.Pid)
	for deadline := time.Now().Add(10 * time.Second); p.Name(pid) != "sleep" && time.Now().Before(deadline); p = (Programs{}) {
		time.Sleep(time.Millisecond) // until it has replaced the test's program
	}
	p.Name(pid)
	cmd.Process.Kill()
	cmd.Wait()
	known := p.names[pid]
	known.read = time.Time{} // as if a second had passed
	p.names[pid] = known
	if got := p.Name(pid); got != "sleep" {
		t.Errorf("after its end it is called %q", got)
	}
	if got := p.Name(1 << 30); got != "" {
		t.Errorf("no program is called %q", got)
	}
}
