package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
)

// A goroutine's request sends ten metrics, one every 30 us. Whether it ran meanwhile is not recorded, so a send took no
// longer than the time since the one before.
func TestWhatAGoroutinesSendsTake(t *testing.T) {
	rec := waiting(func(int) bool { return false }, func(l *goLines, _, at int) {
		for k := range 10 {
			l.at(at+100+30*k, "datagram thread=1 goroutine=7 protocol=statsd peer=127.0.0.1:8125 bytes=16 messages=1")
		}
	})
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	if got := telemetryOf(diagnosis.NewCase(tl, diagnosis.Options{})).typical; got != 30_000 {
		t.Errorf("a send takes %v, want 30 us", got)
	}
}
