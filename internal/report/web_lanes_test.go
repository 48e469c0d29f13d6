package report_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// In the middle of each column, a lane shows what a dump of that instant shows, if the thread did only one thing in
// the column. There are never more columns than requested.
func TestLanesAgreeWithDumps(t *testing.T) {
	text, err := os.ReadFile("testdata/convoy.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl, _ := load(t, string(text), diagnosis.Options{})
	lanes := report.NewWebLanes(tl, tl.Start, tl.End, 100)
	if lanes.Columns != 100 || len(lanes.Lanes) == 0 || lanes.More != 0 {
		t.Fatalf("%d columns, %d lanes, %d more", lanes.Columns, len(lanes.Lanes), lanes.More)
	}
	compared := 0
	for _, lane := range lanes.Lanes {
		x, data := 0, []byte(lane.Data)
		for range lane.Runs {
			n, k := binary.Uvarint(data)
			v, m := binary.Uvarint(data[k:])
			data = data[k+m:]
			for i := x; i < x+int(n); i++ {
				span := tl.End - tl.Start
				from, to := tl.Start+span*timeline.Time(i)/100, tl.Start+span*timeline.Time(i+1)/100
				if got, alone := doneAlone(tl, lane.TID, from, to); alone && v%16 == 15 {
					compared++
					if want := int64(got) + 1; int64(v/16) != want {
						t.Errorf("%s, column %d: %d, want %d", lane.Name, i, v/16, want)
					}
				}
			}
			x += int(n)
		}
		if x != lanes.Columns || len(data) != 0 {
			t.Errorf("%s: %d columns, %d bytes left", lane.Name, x, len(data))
		}
	}
	if compared < 10 {
		t.Errorf("only %d columns were compared", compared)
	}
}

// doneAlone returns the only thing that a thread did in a span.
func doneAlone(tl *timeline.Timeline, tid int64, from, to timeline.Time) (timeline.Cause, bool) {
	for i := range tl.Strands {
		if tl.Strands[i].TID == tid {
			list := tl.Doing(timeline.StrandID(i), from, to)
			return append(list, timeline.Activity{})[0].Cause, len(list) == 1
		}
	}
	return 0, false
}

func TestLanesAreBounded(t *testing.T) {
	text, err := os.ReadFile("testdata/convoy.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl, _ := load(t, string(text), diagnosis.Options{})
	for range 10 { // more threads than are useful to look at
		tl.Strands = append(tl.Strands, tl.Strands...)
	}
	lanes := report.NewWebLanes(tl, tl.Start-5, tl.End+5, 1<<30)
	if len(lanes.Lanes) != 120 || lanes.More == 0 || lanes.Columns != report.MostColumns || lanes.From != 0 || lanes.To != tl.End.Sub(tl.Start) {
		t.Errorf("%d lanes, %d more, %d columns, from %d to %d", len(lanes.Lanes), lanes.More, lanes.Columns, lanes.From, lanes.To)
	}
}
