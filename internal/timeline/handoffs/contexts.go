package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// An asyncio task runs in a context of its own (contextvars), a copy of the context of the code that created it. The
// same is true of work that is handed to a thread with asyncio.to_thread, anyio or asgiref. So the context in which a
// response was written belongs to its request. What was done in that context while the request was open, or in a copy
// made since the request was read, was done for that request.
//
// If contexts are not numbered, only their address is known. As long as a task lives, it has the address for itself:
// what was done there belongs to the request that is next answered there.

// contextOf is a request that a context belongs to, or in which it was read.
type contextOf struct {
	request timeline.RequestID
	conn    int
	after   int64 // the last context that had been copied when the request was read
}

// contexts knows which requests contexts belong to.
type contexts struct {
	t     *timeline.Timeline
	f     *facts.Facts
	uses  map[facts.ContextKey]*contextUse
	known causality.Tallies[recording.ProcessID] // odd: a response was written in a context that is not known
	loops map[timeline.StrandID]bool             // strands that read requests: threads elsewhere have contexts that are not numbered
}

// contextUse is what was read and written in a context.
type contextUse struct {
	read   []contextOf // requests that were read in it, in order
	wrote  []contextOf // requests whose responses were written in it, or in a copy, in order of their end
	many   bool        // it was used to read from several connections
	shared bool        // by requests that were open at once, or read from connections that were
}

// maxAncestors bounds how far contexts are followed to those that they are copies of.
const maxAncestors = 32

// PythonContexts assigns calls of Python programs to the requests in whose contexts they were made. It returns the
// contexts found, or nil if there are none.
func PythonContexts(t *timeline.Timeline, f *facts.Facts, in Input) *contexts {
	x := contexts{t: t, f: f, uses: map[facts.ContextKey]*contextUse{}, known: causality.Tallies[recording.ProcessID]{}, loops: map[timeline.StrandID]bool{}}
	for i := range in.Requests {
		x.addRequest(timeline.RequestID(i), &in.Requests[i])
	}
	if len(x.uses) == 0 {
		return nil
	}
	for k, use := range x.uses {
		x.order(k, use)
	}
	for i := range t.Calls {
		c, m := &t.Calls[i], &in.Calls[i]
		if m.Exchange.Asked.None() || c.Strand == timeline.None {
			continue
		}
		id := f.Conns[m.Conn].Chunks[recording.Write][m.Exchange.Asked.First].Context
		if id == recording.NoContext {
			continue
		}
		r, known := x.owner(facts.ContextKey{Process: c.Process, ID: id}, c.SendFrom)
		switch {
		case r != timeline.None:
			t.Assign(c, r, timeline.WhyContext)
			exchange.WarmedBefore(t, c, &m.Bounds)
		case known && id > 0 && x.loops[c.Strand] && x.tells(c.Process):
			t.Assign(c, timeline.None, timeline.WhyNoContext)
		}
	}
	return &x
}

// addRequest notes the contexts in which a request was read and answered.
func (x *contexts) addRequest(id timeline.RequestID, s *exchange.Request) {
	r := &x.t.Requests[id]
	if s.Asked.None() {
		return
	}
	c := &x.f.Conns[s.Conn]
	read := c.Chunks[recording.Read][s.Asked.First]
	if read.Context == recording.NoContext {
		return
	}
	of, in := contextOf{id, int(s.Conn), read.Contexts}, lists.Entry(x.uses, facts.ContextKey{Process: r.Process, ID: read.Context})
	if n := len(in.read); n > 0 && in.read[n-1].conn != int(s.Conn) {
		before := &x.f.Conns[in.read[n-1].conn]
		in.many, in.shared = true, in.shared || before.Closed == nil || before.ClosedAt > r.FirstRead
	}
	x.loops[s.Reader] = true
	in.read = append(in.read, of)
	if s.Replied.None() {
		return
	}
	wrote := c.Chunks[recording.Write][s.Replied.First].Context
	x.known.Add(r.Process, wrote <= 0)
	k, own := facts.ContextKey{Process: r.Process, ID: wrote}, true
	for depth := 0; own && depth < maxAncestors; depth++ {
		if k.ID != recording.NoContext {
			home := lists.Entry(x.uses, k)
			home.wrote = append(home.wrote, of)
		}
		parent, ok := x.f.Contexts[k]
		k.ID, own = parent, ok && int64(parent) > read.Contexts && read.Contexts > 0
	}
}

// order puts the requests of a context in order of their end, and checks whether each began after the one before
// ended.
func (x *contexts) order(k facts.ContextKey, use *contextUse) {
	list := use.wrote
	slices.SortFunc(list, func(a, b contextOf) int {
		return cmp.Or(cmp.Compare(x.t.Requests[a.request].End, x.t.Requests[b.request].End), cmp.Compare(a.request, b.request))
	})
	for i := 1; i < len(list) && k.ID > 0; i++ {
		if x.t.Requests[list[i].request].FirstRead < x.t.Requests[list[i-1].request].End {
			use.shared = true
		}
	}
}

// tells reports that nearly all responses of a process are written in known contexts. Then what is done in another
// context belongs to no request.
func (x *contexts) tells(p recording.ProcessID) bool {
	return x.known[p].Rule(1)
}

// owner is the request for which something was done in a context; None if it was done for none. known says whether
// that is certain.
func (x *contexts) owner(k facts.ContextKey, at recording.Time) (r timeline.RequestID, known bool) {
	child := recording.NoContext
	for range maxAncestors {
		if r := x.at(k, child, at); r != timeline.None {
			return r, true
		}
		if k.ID <= 0 {
			return timeline.None, true
		}
		parent, ok := x.f.Contexts[k]
		if !ok {
			return timeline.None, false
		}
		child, k.ID = k.ID, parent
	}
	return timeline.None, false
}

// at is the request that a context belongs to at a time, as far as it is known without the contexts that it was
// copied from. What is asked about was done in the context itself, or below its copy child.
func (x *contexts) at(k facts.ContextKey, child recording.ContextID, at recording.Time) timeline.RequestID {
	use := x.uses[k]
	if use == nil {
		return timeline.None
	}
	if list := use.wrote; len(list) > 0 && !use.shared {
		i := sort.Search(len(list), func(i int) bool { return x.t.Requests[list[i].request].End > at })
		if i < len(list) && (child == recording.NoContext || int64(child) > list[i].after) && x.t.Requests[list[i].request].OpenAt(at) {
			return list[i].request
		}
	}
	i := sort.Search(len(use.read), func(i int) bool { return use.read[i].after >= int64(child) })
	if child > 0 && !use.many && i > 0 && x.t.Requests[use.read[i-1].request].OpenAt(at) {
		return use.read[i-1].request
	}
	return timeline.None
}
