package report

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// WebRequest is a request as in dwell show --json, with the stacks seen in it.
type WebRequest struct {
	shownRequest
	Stacks []WebStack   `json:"stacks"`
	Tree   *RequestTree `json:"tree,omitempty"` // nil without stacks, or if the page has no more room
}

// WebStack is a stack seen in a segment.
type WebStack struct {
	Segment int    `json:"segment"` // its index
	How     string `json:"how"`     // own: of this very wait; borrowed: of all waits at its place; sample: on a CPU
	Frames  []int  `json:"frames"`  // indexes of the page's Frames, leaf first
}

// WebDetail returns details of individual requests.
type WebDetail struct {
	tl     *timeline.Timeline
	source Source
	index  *stackIndex
	locals map[int64]string
	frames []Frame
	known  map[timeline.FrameID]int
	bytes  int // approximate length in JSON of what was returned so far
	trees  int // the part of that for trees
}

// NewWebDetail makes a WebDetail of a timeline, with lines of code if there is a source.
func NewWebDetail(tl *timeline.Timeline, source Source) *WebDetail {
	w := &WebDetail{tl: tl, source: source, index: newStackIndex(tl), locals: map[int64]string{}, frames: []Frame{}, known: map[timeline.FrameID]int{}}
	for i := range tl.Conns {
		w.locals[int64(tl.Conns[i].ID)] = tl.Conns[i].Local
	}
	return w
}

// WebTold is one request, with only the frames of its stacks.
type WebTold struct {
	Request *WebRequest `json:"request"`
	Frames  []Frame     `json:"frames"`
}

// Tell returns one request.
func (w *WebDetail) Tell(id timeline.RequestID) WebTold {
	w.frames, w.known, w.trees = []Frame{}, map[timeline.FrameID]int{}, 0
	return WebTold{w.request(id), w.frames}
}

// WebWhere are the measured requests that an expression selects.
type WebWhere struct {
	Count int    `json:"count"`
	IDs   Column `json:"ids"` // each as the difference to the previous one
}

// NewWebWhere selects requests.
func NewWebWhere(tl *timeline.Timeline, where *Where) WebWhere {
	var out WebWhere
	before := timeline.RequestID(0)
	for i := range tl.Requests {
		if r := &tl.Requests[i]; r.Measured() && where.Match(tl, r) {
			out.IDs.add(int64(r.ID - before))
			before = r.ID
			out.Count++
		}
	}
	return out
}

// Approximate sizes in JSON of the parts of a request.
const (
	bytesOfRequest = 400
	bytesOfSegment = 130
	bytesOfCall    = 420
	bytesOfWait    = 700
)

func (w *WebDetail) request(id timeline.RequestID) *WebRequest {
	r := &w.tl.Requests[id]
	out := &WebRequest{shown(w.tl, id, w.locals), w.stacks(r), w.tree(id)}
	w.bytes += bytesOfRequest + len(out.Segments)*bytesOfSegment + len(out.Calls)*bytesOfCall
	for i := range out.Segments {
		if out.Segments[i].Wait != nil {
			w.bytes += bytesOfWait
		}
	}
	for _, s := range out.Stacks {
		w.bytes += 40 + 5*len(s.Frames)
	}
	return out
}

// stacks returns the stacks seen in a request's segments, one per segment.
func (w *WebDetail) stacks(r *timeline.Request) []WebStack {
	out := []WebStack{}
	at, last := 0, -1
	add := func(id timeline.StackID, how string) {
		if id != timeline.None && last < at {
			out = append(out, WebStack{at, how, w.framesOf(id)})
			last = at
		}
	}
	list := r.SegmentList()
	for _, c := range w.index.charges(r, nil) { // in the order of segments
		for c.segment.From != list[at].From {
			at++
		}
		switch c.basis {
		case byOwnStack:
			add(c.stack, "own")
		case byPlace:
			add(c.stack, "borrowed")
		case bySamples:
			for _, s := range w.index.between(c.segment.Strand, c.from, c.to) {
				if s.Origin == recording.StackOnCPU {
					add(s.Stack, "sample")
				}
			}
		}
	}
	return out
}

func (w *WebDetail) framesOf(id timeline.StackID) []int {
	out := []int{}
	for ; id != timeline.None; id = w.tl.Stacks[id].Caller {
		f := w.tl.Stacks[id].Frame
		at, ok := w.known[f]
		if !ok {
			at = len(w.frames)
			w.known[f] = at
			frame := frameOf(w.tl, &w.tl.Frames[f])
			frame.Code = w.source.code(&frame)
			w.frames = append(w.frames, frame)
			w.bytes += 180
		}
		out = append(out, at)
	}
	return out
}

// How many requests a page contains first.
const (
	toldSlowest  = 60
	toldBlockers = 20 // for how many of the slowest the requests that kept them waiting are included too
)

// worthTelling returns the requests that a page describes in full, the most important first: of each endpoint an
// ordinary one and the slowest; those that evidence names; the slowest of all, with those that kept them waiting; and
// then one of each cell of the chart, so that every cell has an example.
func worthTelling(r *Report, tl *timeline.Timeline) []timeline.RequestID {
	var out []timeline.RequestID
	has := map[timeline.RequestID]bool{}
	add := func(id timeline.RequestID) {
		if id != timeline.None && !has[id] {
			has[id] = true
			out = append(out, id)
		}
	}
	var all []timeline.RequestID
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		add(e.Typical)
		add(e.Slowest)
		all = append(all, e.ids.all...)
	}
	for _, list := range evidenceOf(r) {
		for _, id := range list {
			add(id)
		}
	}
	slices.SortStableFunc(all, func(a, b timeline.RequestID) int {
		return int(min(max(tl.Requests[b].Duration()-tl.Requests[a].Duration(), -1), 1))
	})
	for i, id := range all[:min(len(all), toldSlowest)] {
		add(id)
		for s := tl.Requests[id].Segments(); s.Next(); {
			if i < toldBlockers {
				add(s.Blocker)
			}
		}
	}
	type cell struct {
		name string
		x, y int64
	}
	step := max(1, tl.End.Sub(tl.Start)/webSteps)
	seen := map[cell]bool{}
	for _, id := range all {
		q := &tl.Requests[id]
		c := cell{q.Endpoint, int64(q.Start.Sub(tl.Start) / step), webRow(q.Duration())}
		if !seen[c] {
			seen[c] = true
			add(id)
		}
	}
	return out
}

func evidenceOf(r *Report) (out [][]timeline.RequestID) {
	for _, f := range slices.Concat(r.Findings, r.Leads) {
		for _, e := range f.Evidence {
			out = append(out, e.Requests)
		}
	}
	return out
}
