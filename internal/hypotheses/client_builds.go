package hypotheses

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// builds holds the clients of one class that requests built, each with credentials of its own.
type builds struct {
	of       *fetches
	class    string
	shown    int               // calls whose stack holds the constructor
	calls    []timeline.CallID // calls that fetched credentials: those shown, and others taken to be like them
	took     []Duration        // ascending
	requests map[diagnosis.RequestID]bool
	strands  map[timeline.StrandID]bool
	callers  tally // by place, of shown
	all      int   // measured requests
}

// clientsBuilt returns the builds by class, in the order of their fetches.
func clientsBuilt(c *diagnosis.Case) (out []*builds) {
	list := fetched(c)
	if len(list) == 0 {
		return nil
	}
	handling := handlers(c)
	for _, f := range list {
		index := map[string]*builds{}
		var list []*builds
		named := 0
		for _, id := range f.calls {
			built, seen := outermost(c, handling, &c.Calls[id])
			if !seen {
				continue
			}
			if named++; built == nil {
				continue
			}
			b := index[built.Class]
			if b == nil {
				b = &builds{of: f, class: built.Class, requests: map[diagnosis.RequestID]bool{}, strands: map[timeline.StrandID]bool{}, callers: tally{}, all: len(c.Overall.Requests)}
				index[built.Class] = b
				list = append(list, b)
			}
			b.shown++
			b.add(c, id)
			if built.Caller != timeline.None {
				b.callers[symbol.Place(c.Frames[built.Caller])]++
			}
		}
		// If nearly all calls with a known stack build the same class, the other calls are taken to do so too: their stacks
		// were not taken, or show what interrupted them.
		for _, b := range list {
			if 10*b.shown >= 9*named && 2*named >= len(f.calls) {
				for _, id := range rest(f.calls, b.calls) {
					b.add(c, id)
				}
				list = []*builds{b}
				break
			}
		}
		for _, b := range list {
			slices.Sort(b.took)
		}
		out = append(out, list...)
	}
	return out
}

// rest returns the calls that are not among some of them; both lists have the same order.
func rest(all, some []timeline.CallID) (out []timeline.CallID) {
	for _, id := range all {
		if len(some) > 0 && some[0] == id {
			some = some[1:]
			continue
		}
		out = append(out, id)
	}
	return out
}

func (b *builds) add(c *diagnosis.Case, id timeline.CallID) {
	call := &c.Calls[id]
	b.calls = append(b.calls, id)
	b.took = append(b.took, call.End.Sub(call.Start))
	b.requests[call.Request] = true
	b.strands[call.Strand] = true
}

// outermost returns what is being built while a call is made (the object that holds all others), and whether the call's
// stack is known.
func outermost(c *diagnosis.Case, handling map[timeline.StackID]bool, call *timeline.Call) (built *timeline.Construction, seen bool) {
	for _, id := range waitStacks(c, call) {
		seen = true
		list := constructions(c, id)
		for i := len(list) - 1; i >= 0; i-- {
			if !handling[list[i].Stack] {
				return &list[i], true
			}
		}
	}
	return nil, seen
}

// constructions returns the constructors under way on a stack, the innermost first. Many waits share a stack, so each
// stack is searched once.
func constructions(c *diagnosis.Case, id timeline.StackID) []timeline.Construction {
	known := c.Shared("constructions", func() any { return map[timeline.StackID][]timeline.Construction{} }).(map[timeline.StackID][]timeline.Construction)
	list, ok := known[id]
	if !ok {
		list = c.Constructions(id)
		known[id] = list
	}
	return list
}

// handlers returns the constructors under which calls that fetch no credentials are made as well. Such objects handle
// requests, or are built with those that do.
func handlers(c *diagnosis.Case) map[timeline.StackID]bool {
	out, seen := map[timeline.StackID]bool{}, map[timeline.StackID]bool{}
	for i := range c.Calls {
		call := &c.Calls[i]
		if kind, _ := classOf(c).OfCall(call); kind == peers.Credential || call.Request == timeline.None {
			continue
		}
		for _, id := range waitStacks(c, call) {
			if !seen[id] {
				seen[id] = true
				for _, x := range constructions(c, id) {
					out[x.Stack] = true
				}
			}
		}
	}
	return out
}

// caller names the place that builds most of them, and counts the places.
func (b *builds) caller() (name string, places int) {
	name, _ = b.callers.most()
	return name, len(b.callers)
}

// under is the name to look for in stacks.
func (b *builds) under() string {
	name, _ := b.caller()
	if name, _, _ = strings.Cut(name, " "); name != "" {
		return name
	}
	return b.class
}

// spans returns the time that requests would not need without the builds, the mean own work in it, and how that work is
// known.
func (b *builds) spans(c *diagnosis.Case) (out []diagnosis.Span, own Duration, how string) {
	of := map[timeline.CallID]bool{}
	for _, id := range b.calls {
		of[id] = true
	}
	out = c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return of[s.Call] })
	work, how := b.work(c)
	var total Duration
	done := map[diagnosis.RequestID]bool{}
	for _, id := range b.calls {
		call := &c.Calls[id]
		r := &c.Requests[call.Request]
		if done[r.ID] {
			continue
		}
		done[r.ID] = true
		left := work(r)
		for i, e := range []effort{effortIn(r, id, r.Start, call.Start), effortIn(r, id, call.End, r.End)} {
			for _, s := range nearest(e.work, left, i == 1) {
				left -= s.To.Sub(s.From)
				total += s.To.Sub(s.From)
				out = append(out, s.Span)
			}
		}
	}
	return out, total / Duration(max(1, len(b.calls))), how
}

// work returns how much of a request's own work goes with building a client. It is the difference of the medians
// between requests of the endpoint that build one and those that do not. If all build one, it is the share of samples
// beneath the constructor.
func (b *builds) work(c *diagnosis.Case) (of func(*timeline.Request) Duration, how string) {
	with, others := map[string][]Duration{}, map[string][]Duration{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if own := ownIn(r, r.Start, r.End); b.requests[id] {
			with[r.Endpoint] = append(with[r.Endpoint], own)
		} else {
			others[r.Endpoint] = append(others[r.Endpoint], own)
		}
	}
	more := map[string]Duration{}
	for at, list := range with {
		if slices.Sort(list); len(list) >= compared && len(others[at]) >= compared {
			slices.Sort(others[at])
			more[at] = max(0, diagnosis.Quantile(list, 50)-diagnosis.Quantile(others[at], 50))
		}
	}
	if len(more) > 0 {
		return func(r *timeline.Request) Duration { return more[r.Endpoint] }, "by comparison with requests that build no client"
	}
	beneath, all := b.sampled(c)
	if all < fewSamples {
		return func(*timeline.Request) Duration { return 0 }, "not known"
	}
	share := diagnosis.ShareOf(int64(beneath), int64(all))
	return func(r *timeline.Request) Duration { return share.Of(ownIn(r, r.Start, r.End)) },
		"from " + diagnosis.Thousands(int64(beneath)) + " of " + diagnosis.Plural(all, "sample")
}

// sampled counts the CPU samples of requests that build a client, and those of them beneath the constructor.
func (b *builds) sampled(c *diagnosis.Case) (beneath, all int) {
	under := func(id timeline.StackID) bool {
		return slices.ContainsFunc(constructions(c, id), func(x timeline.Construction) bool { return x.Class == b.class })
	}
	for _, id := range b.calls {
		call := &c.Calls[id]
		r := &c.Requests[call.Request]
		for s := r.Segments(); s.Next(); {
			if !ownCPU(&s.Segment) || s.Strand != call.Strand {
				continue
			}
			for _, a := range c.StacksIn(s.Strand, s.From, s.To) {
				if a.Origin != recording.StackOnCPU {
					continue
				}
				if all++; under(a.Stack) {
					beneath++
				}
			}
		}
	}
	return beneath, all
}
