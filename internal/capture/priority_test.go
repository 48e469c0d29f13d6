//go:build linux && (amd64 || arm64)

package capture

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// niceness returns the nice value of the calling thread.
func niceness(t *testing.T) int {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - raw
}

func TestWorkThatCanWaitLetsTheServiceGoFirst(t *testing.T) {
	before, after := niceness(t), 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and its priority with it
		standBack(unix.Gettid())
		after = niceness(t)
	}()
	if <-done; after != max(before, politeness) {
		t.Errorf("nice is %d, want %d", after, max(before, politeness))
	}
}
