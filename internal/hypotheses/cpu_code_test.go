package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Each request computes and is sampled once. If ordinary and slow requests were sampled equally often in two places,
// all requests decide. If those do not either, or are too few, that is reported.
func TestCodeThatComputesIsNamed(t *testing.T) {
	for _, x := range []struct {
		in, told    string // by request (the first twelve are ordinary or slow): the function in which it is sampled
		title, next string
	}{
		{"ABABABABABABAAAAAAAA", "tie, then A", "; 70 % of the CPU time is in main.A (20 samples: ", "dwell show"},
		{"ABABABABABABABABABAB", "tie", "", "no place in the code stands out"},
		{"AAAAAA", "few", "", "record for longer"},
	} {
		tl := &timeline.Timeline{
			Strands: []timeline.Strand{{}},
			Frames:  []recording.Frame{{ID: 1, Type: recording.FrameGo, Function: "main.A"}, {ID: 2, Type: recording.FrameGo, Function: "main.B"}},
			Stacks:  []timeline.Stack{{Caller: timeline.None, Frame: 0}, {Caller: timeline.None, Frame: 1}},
		}
		s := &diagnosis.Symptom{}
		for i, f := range x.in {
			id, at := diagnosis.RequestID(i), diagnosis.Time(i*100)
			r := timeline.Request{ID: id, RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, Start: at, End: at + 50}
			r.SetSegments([]timeline.Segment{{From: at, To: at + 50, Phase: timeline.PhaseHandler, Cause: timeline.CauseOnCPU, Call: timeline.None, Blocker: timeline.None}})
			tl.Requests = append(tl.Requests, r)
			tl.Strands[0].Stacks = append(tl.Strands[0].Stacks, timeline.StackAt{Time: at + 10, Stack: timeline.StackID(f - 'A'), Origin: recording.StackOnCPU})
			if s.Requests = append(s.Requests, id); i < 12 {
				s.Ordinary = append(s.Ordinary, id)
			}
		}
		tl.Strands[0].Intervals = []timeline.Interval{{From: 0, To: 10_000, State: timeline.StateRunning}}
		c := &diagnosis.Case{Timeline: tl}
		cd := diagnosis.Candidate{Next: "dwell show"}
		nameCode(c, s, newSamples(c), &cd)
		if !strings.Contains(cd.Title, x.title) || x.title == "" && cd.Title != "" || !strings.Contains(cd.Next, x.next) {
			t.Errorf("%s: %q, next %q", x.told, cd.Title, cd.Next)
		}
	}
}
