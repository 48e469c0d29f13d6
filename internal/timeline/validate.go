package timeline

import (
	"fmt"

	"github.com/getdwell/dwell/recording"
)

// Validate checks the invariants of every Timeline. It trusts nothing that build computed on the way.
//
//   - the intervals of a strand tile it, without gaps, overlaps or empty ones;
//   - a request's segments are ordered, disjoint and within it, and their lengths plus
//     Unaccounted are its duration;
//   - requests and calls lie within the recording, are ordered by start, numbered by
//     their index, and their marks are in order;
//   - a call's phases are not negative and sum to its duration;
//   - an associated call begins after its request was read and is listed there, once.
//     It may end after the request: it is then fire-and-forget;
//   - the invariants of waits, locks and stacks that the method waits lists.
func Validate(t *Timeline) []error {
	v := &validator{t: t}
	for i := range t.Strands {
		v.strand(i)
	}
	for i := range t.Requests {
		v.request(i)
	}
	listed := map[CallID]RequestID{}
	for i := range t.Requests {
		for _, c := range t.Requests[i].Calls {
			if _, twice := listed[c]; twice || c < 0 || int(c) >= len(t.Calls) {
				v.failf("request %d lists call %d, which is another's or does not exist", i, c)
			}
			listed[c] = RequestID(i)
		}
	}
	for i := range t.Calls {
		v.call(i)
		r, ok := listed[CallID(i)]
		if want := t.Calls[i].Request; ok != (want != None) || ok && r != want {
			v.failf("call %d belongs to request %d but is listed by %d (%v)", i, want, r, ok)
		}
	}
	v.ordinals()
	v.parts()
	v.waits()
	return v.errs
}

type validator struct {
	t    *Timeline
	errs []error
}

func (v *validator) failf(format string, args ...any) {
	if len(v.errs) < 100 {
		v.errs = append(v.errs, fmt.Errorf(format, args...))
	}
}

func (v *validator) strand(i int) {
	list := v.t.Strands[i].Intervals
	for k, iv := range list {
		if iv.From >= iv.To {
			v.failf("strand %d: interval %d is empty: [%d, %d)", i, k, iv.From, iv.To)
		}
		if k > 0 && list[k-1].To != iv.From {
			v.failf("strand %d: interval %d begins at %d, the one before ends at %d", i, k, iv.From, list[k-1].To)
		}
		if iv.From < v.t.Start || iv.To > v.t.End {
			v.failf("strand %d: interval %d lies outside the recording", i, k)
		}
	}
}

func (v *validator) request(i int) {
	r := &v.t.Requests[i]
	if int(r.ID) != i {
		v.failf("request %d is numbered %d", i, r.ID)
	}
	if i > 0 && v.t.Requests[i-1].Start > r.Start {
		v.failf("request %d starts before request %d", i, i-1)
	}
	v.inside("request", i, r.Start, r.End)
	if r.Start > r.FirstRead || r.FirstRead > r.End {
		v.failf("request %d: read at %d, outside [%d, %d]", i, r.FirstRead, r.Start, r.End)
	}
	if r.FirstWrite != recording.NoTime && (r.FirstWrite < r.FirstRead || r.FirstWrite > r.End) {
		v.failf("request %d: first written at %d, outside [%d, %d]", i, r.FirstWrite, r.FirstRead, r.End)
	}
	rest, cursor := r.Duration(), r.Start
	for k, g := range r.SegmentList() {
		if g.From < cursor || g.From >= g.To || g.To > r.End {
			v.failf("request %d: segment %d [%d, %d) overlaps, is empty or sticks out", i, k, g.From, g.To)
		}
		v.segment(i, k, g)
		cursor = g.To
		rest -= g.To.Sub(g.From)
	}
	if rest != r.Unaccounted() || rest < 0 {
		v.failf("request %d: segments leave %d ns, Unaccounted says %d", i, rest, r.Unaccounted())
	}
}

func (v *validator) segment(i, k int, g Segment) {
	if g.Phase < 0 || g.Phase >= NumPhases || g.Cause < 0 || g.Cause >= NumCauses {
		v.failf("request %d: segment %d has phase %d and cause %d", i, k, g.Phase, g.Cause)
	}
	if int(g.Call) >= len(v.t.Calls) || int(g.Strand) >= len(v.t.Strands) || int(g.Blocker) >= len(v.t.Requests) {
		v.failf("request %d: segment %d points at nothing", i, k)
		return
	}
	if g.Call != None && v.t.Calls[g.Call].Request != RequestID(i) {
		v.failf("request %d: segment %d is part of call %d, of another request", i, k, g.Call)
	}
	if g.Blocker == RequestID(i) {
		v.failf("request %d: segment %d says that it blocked itself", i, k)
	}
}

func (v *validator) call(i int) {
	c := &v.t.Calls[i]
	if int(c.ID) != i {
		v.failf("call %d is numbered %d", i, c.ID)
	}
	if i > 0 && v.t.Calls[i-1].Start > c.Start {
		v.failf("call %d starts before call %d", i, i-1)
	}
	v.inside("call", i, c.Start, c.End)
	var sum Duration
	for p, d := range c.Phases {
		if d < 0 {
			v.failf("call %d: phase %v lasts %d ns", i, Phase(p), d)
		}
		sum += d
	}
	if sum != c.End.Sub(c.Start) {
		v.failf("call %d: phases sum to %d ns, it lasted %d", i, sum, c.End.Sub(c.Start))
	}
	if c.Why == "" {
		v.failf("call %d does not say why it was associated or not", i)
	}
	if c.Request != None && c.Start < v.t.Requests[c.Request].FirstRead {
		v.failf("call %d starts before its request %d was read", i, c.Request)
	}
}

// inside checks that a span lies within the recording.
func (v *validator) inside(what string, i int, from, to Time) {
	if from > to || from < v.t.Start || to > v.t.End {
		v.failf("%s %d [%d, %d] lies outside the recording [%d, %d]", what, i, from, to, v.t.Start, v.t.End)
	}
}

// ordinals checks that no two requests, and no two calls, of a connection have the same ordinal.
func (v *validator) ordinals() {
	type place struct {
		conn    recording.ConnID
		ordinal int
	}
	seen := map[place]bool{}
	once := func(what string, i int, p place) {
		if seen[p] {
			v.failf("%s %d: connection %d has two with ordinal %d", what, i, p.conn, p.ordinal)
		}
		seen[p] = true
	}
	for i := range v.t.Requests {
		once("request", i, place{v.t.Requests[i].Conn, int(v.t.Requests[i].Ordinal)})
	}
	clear(seen)
	for i := range v.t.Calls {
		once("call", i, place{v.t.Calls[i].Conn, v.t.Calls[i].Ordinal})
	}
}
