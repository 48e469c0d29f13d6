//go:build linux && (amd64 || arm64)

package capture

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A thread that is woken in a Python context may work for the task whose context this one descends from, through
// other copies. The ancestors are declared once, before the wait that this wake-up ends.
func TestContextOfAWake(t *testing.T) {
	d := watching(t)
	ids := probesRuntimeIds{Context: 482, From: [6]int64{481, 480, 98}}
	feed(d, probesContextEvent{H: head(probesEventTypeEVENT_CONTEXT, 2000, 100, 1), Ids: ids})
	feed(d, probesOffEvent{H: head(probesEventTypeEVENT_OFF, 2000, 100, 1), Since: 1500, Woken: 1900, WakerKind: uint8(recording.WakerThread), WakerTid: 100, WakerTgid: 100, WakerStart: 1, WakerContext: 482})
	feed(d, probesContextEvent{H: head(probesEventTypeEVENT_CONTEXT, 3000, 100, 1), Ids: ids})
	told := map[int64]int64{}
	for _, e := range d.out {
		switch x := e.Fact.(type) {
		case *recording.Context:
			if _, twice := told[int64(x.ID)]; twice {
				t.Errorf("told twice: %+v", x)
			}
			told[int64(x.ID)] = int64(x.Parent)
		case *recording.Off:
			if told[482] != 481 || told[481] != 480 || told[480] != 98 || x.Context != 482 {
				t.Errorf("woken in %d; %v", x.Context, told)
			}
		}
	}
}

// A thread is declared with the Python context in which it was created, after that context is declared.
func TestContextOfAThread(t *testing.T) {
	d := watching(t)
	feed(d, probesContextEvent{H: head(probesEventTypeEVENT_CONTEXT, 2000, 100, 1), Ids: probesRuntimeIds{Context: 482, From: [6]int64{481}}})
	e := taskEvent(head(probesEventTypeEVENT_FORK, 2000, 101, 2000), "worker")
	e.CreatorContext = 482
	feed(d, e)
	offOf(d, 2100, 101, 2000)
	if got := facts(d); !strings.Contains(got, "Context &{Process:1 ID:482 Parent:481}") || !strings.Contains(got, "Creator:1 Name:worker Context:482}") {
		t.Error(got)
	}
}
