package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// The holder of a log's lock waits 5 ms for a pipe to take its line: there is nothing to fetch first. The same is true
// if it waits until a socket takes more, in a call that also waits for answers.
func TestALockHeldOverAWriteIsMendedOtherwise(t *testing.T) {
	const appending = "com.shop.Log.append < com.shop.Handler.handle"
	for _, test := range []struct {
		syscall, path string
		writes        bool
	}{
		{"write", "java.io.FileOutputStream.writeBytes < ", true},
		{"poll", "sun.nio.ch.Net.poll < sun.nio.ch.NioSocketImpl.park < sun.nio.ch.NioSocketImpl.implWrite < ", true},
		{"poll", "sun.nio.ch.Net.poll < sun.nio.ch.NioSocketImpl.park < sun.nio.ch.NioSocketImpl.implRead < ", false},
	} {
		rec := done(bursts(newScenario(recording.RuntimeJVM), 4, locked(entering+appending, func(t *thread) {
			t.blocked(t.at+5000*us, 20*us, test.syscall, test.path+appending)
		})), 30)
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		d := diagnosis.Diagnose(tl, All(), diagnosis.Options{})
		if len(d.Findings) == 0 || d.Findings[0].ID != "refresh-under-lock" || strings.HasPrefix(d.Findings[0].Fix, "do not hold the lock during the write: ") != test.writes ||
			strings.Contains(d.Findings[0].Title, "waiting for the reader of what it writes") != test.writes {
			t.Errorf("%s %s: %+v", test.syscall, test.path, d.Findings)
		} else if im := d.Findings[0].Impact; (d.Overall.Mean-im.Mean < 5*milli) != test.writes {
			t.Errorf("%s %s: %v of %v", test.syscall, test.path, im.Mean, d.Overall.Mean)
		}
	}
}
