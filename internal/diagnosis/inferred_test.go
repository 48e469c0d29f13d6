package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// TestInferredShare: two requests, each with a call from 0 to 10 whose owner a fact names and one from 20 to 40 whose
// owner no fact names.
func TestInferredShare(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{{Request: 0, Why: timeline.WhyThread}, {Request: 0, Why: timeline.WhyInLine}}}
	for id := range timeline.RequestID(2) {
		r := timeline.Request{ID: id, Start: 0, End: 50, Strand: timeline.None}
		list := []timeline.Segment{{From: 0, To: 10, Call: 0}, {From: 10, To: 20, Call: timeline.None}, {From: 20, To: 40, Call: 1}, {From: 40, To: 50, Call: timeline.None}}
		for i := range list {
			list[i].Strand, list[i].Blocker = timeline.None, timeline.None
		}
		r.SetSegments(list)
		tl.Requests = append(tl.Requests, r)
	}
	for _, x := range []struct {
		what  string
		spans []Span
		want  Share
	}{
		{"none of it", []Span{{0, 0, 20}, {1, 40, 50}}, 0},
		{"all of it", []Span{{0, 20, 30}, {0, 35, 40}}, Whole},
		{"half of each", []Span{{0, 10, 30}, {1, 30, 50}}, Whole / 2},
		{"spans that overlap count each", []Span{{0, 20, 40}, {0, 0, 40}, {0, 20, 40}}, Whole * 3 / 4},
		{"requests by turns", []Span{{0, 0, 10}, {1, 20, 30}, {0, 20, 30}, {1, 0, 10}}, Whole / 2},
	} {
		if got := inferredShare(tl, x.spans); got != x.want {
			t.Errorf("%s: %v, want %v", x.what, got, x.want)
		}
	}
}
