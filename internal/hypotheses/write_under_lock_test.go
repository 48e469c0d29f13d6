package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Whoever holds the lock of a log waits 5 ms for a pipe to take its line: there is nothing
// to fetch first.
func TestALockHeldOverAWriteIsMendedOtherwise(t *testing.T) {
	const appending = "com.shop.Log.append < com.shop.Handler.handle"
	rec := done(bursts(newScenario(recording.RuntimeJVM), 4, locked(entering+appending, func(t *thread) {
		t.blocked(t.at+5000*us, 20*us, "write", "java.io.FileOutputStream.writeBytes < "+appending)
	})), 30)
	tl, err := timeline.Build(rec)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, All(), diagnosis.Options{})
	if len(d.Findings) == 0 || d.Findings[0].ID != "refresh-under-lock" || !strings.HasPrefix(d.Findings[0].Fix, "do not hold the lock over the write: ") {
		t.Errorf("%+v", d.Findings)
	}
}
