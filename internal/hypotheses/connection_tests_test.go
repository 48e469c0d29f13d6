package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A pool tests its connection before each use. A test takes 900 us, but 20 ms every fourth time, because the peer
// then has to wait for a processor. The next call would wait for it as well, so that time is not saved.
func TestTryingAConnectionCostsWhatItTakesAsARule(t *testing.T) {
	tl, err := build.Recording(done(serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
		took := recording.Time(900)
		if i%4 == 3 {
			took = 20_000
		}
		t.command("PING", took*us)
		t.command("GET", 3000*us)
	}), 60))
	if err != nil {
		t.Fatal(err)
	}
	got := testedAt(diagnosis.NewCase(tl, diagnosis.Options{}))
	if len(got) != 1 || len(got[0].Spans) < 20 {
		t.Fatalf("found %+v, want one that has a span in each request", got)
	}
	for _, s := range got[0].Spans {
		if s.To-s.From > 1000*us {
			t.Errorf("of request %d %v is saved", s.Request, s.To-s.From)
		}
	}
}
