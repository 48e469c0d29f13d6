package target

import "testing"

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
