//go:build linux && (amd64 || arm64)

package capture

import (
	"testing"

	"golang.org/x/sys/unix"
)

// niceness is that of the thread that asks.
func niceness(t *testing.T) int {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - raw
}

func TestWorkThatCanWaitLetsTheServiceGoFirst(t *testing.T) {
	before, inside := niceness(t), 0
	politely(func() { inside = niceness(t) })
	if inside != max(before, politeness) {
		t.Errorf("nice is %d meanwhile, want %d", inside, max(before, politeness))
	}
	for range 100 { // on whatever threads
		after := make(chan int)
		go func() { after <- niceness(t) }()
		if n := <-after; n != before {
			t.Fatalf("nice is %d on some thread afterwards, was %d", n, before)
		}
	}
}
