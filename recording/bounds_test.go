package recording

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Load leaves out impossible values and reports that: each case changes one number of a sound recording.
func TestLoadLeavesOutWhatNoRecordingHolds(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{"since=105 woken=115", "since=-9223372036854775808 woken=115"},
		{"since=105 woken=115", "since=105 woken=9223372036854775807"},
		{"arrived=112 last=112", "arrived=4611686018427387904 last=112"},
		{"late conn=1 offset=200 left=151", "late conn=1 offset=200 left=-1"},
		{"dir=write bytes=200", "dir=write bytes=4611686018427387904"},
		{"offset=40 bytes=20", "offset=-9223372036854775808 bytes=20"},
		{"http-request conn=1 head=60", "http-request conn=1 head=9223372036854775807"},
		{"length=120", "length=-3"},
		{"messages=2", "messages=4611686018427387904"},
		{"dir=write bytes=31", "dir=-1 bytes=31"},
		{"155 conn id=2", "155 conn id=9223372036854775807"},
		{"153 gap", "9223372036854775807 gap"},
		{"153 gap", "-153 gap"},
		{"operation=GET", "operation=" + strings.Repeat("G", maxText+1)},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		if text == sound {
			t.Fatalf("%q is not in the sound recording", c.old)
		}
		rec, err := ParseText(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		last := len(rec.Events) - 1
		loss, ok := rec.Events[last-1].Fact.(*Loss)
		if !ok || *loss != (Loss{Hook: leftOut, Count: 1, From: 100}) || rec.Events[last].Fact.Kind() != KindEnd {
			t.Errorf("%s: the recording ends with %v, want a loss of one fact", c.new, rec.Events[last-1])
		}
		again := load(t, encode(t, rec.Events))
		out := newScreen()
		if kept := out.within(Workers{}, again.Events); out.left != 0 || len(kept) != len(rec.Events) {
			t.Errorf("%s: read again, %d facts are left out", c.new, out.left)
		}
	}
}

// Missing times, unknown lengths and addresses are valid.
func TestLoadKeepsWhatIsOdd(t *testing.T) {
	rec, err := ParseText(strings.NewReader(fmt.Sprintf(`100 manifest
110 off thread=1 since=0 woken=0 arg=%d sp=%d
110 http-request conn=1 length=-2
110 goroutine process=1 id=%d
110 neighbour comm=build since=100 cpu=5000000000`, math.MinInt64, math.MaxInt64, math.MaxInt64)))
	if err != nil || len(rec.Events) != 5 {
		t.Fatalf("%v, %v, want all five", rec, err)
	}
}

func TestStacksAreAsDeepAsIsWalked(t *testing.T) {
	var events []Event
	for i := range StackID(maxDepth + 10) {
		events = append(events, Event{1, &Stack{ID: i + 1, Caller: i, Frame: 1}})
	}
	out := newScreen()
	if kept := out.within(Workers{}, events); len(kept) != maxDepth || out.left != 10 {
		t.Errorf("%d kept, %d left out, want %d and 10", len(kept), out.left, maxDepth)
	}
}
