package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// beneathOf is a function with what was sampled in it and beneath it.
type beneathOf struct {
	spot
	depth int // calls between it and what was sampled, in all
}

// functionsOver returns the functions that have half of some samples in or beneath them, the
// innermost first: of each stack the innermost of the service's own code, and what that called. What
// calls the function of its own that most samples are in, as a server does, is none of them; where none is
// known to be its own, nor is the language's own library, which has servers.
func functionsOver(c *diagnosis.Case, list []sampling) (out []*beneathOf) {
	counts := map[timeline.StackID]int{}
	for _, p := range list {
		counts[p.stack]++
	}
	index, own := map[string]*beneathOf{}, map[string]int{}
	for stack, n := range counts {
		seen := map[string]bool{}
		for depth, f := range c.StackFrames(stack) {
			name := symbol.Name(f)
			at := index[name]
			if at == nil {
				at = &beneathOf{spot: spot{name: name, lines: map[recording.Frame]int{}}}
				index[name] = at
			}
			if !seen[name] {
				seen[name] = true
				at.samples += n
				at.depth += n * depth
				at.lines[f] += n
			}
			if symbol.Application(f) {
				own[name] += n
				break
			}
		}
	}
	most := ""
	for name, n := range own {
		if n > own[most] || n == own[most] && name < most {
			most = name
		}
	}
	calls := callersOf(c, most, counts)
	for _, at := range index {
		if 2*at.samples >= len(list) && !calls[at.name] && (most != "" || at.is(symbol.Brought)) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b *beneathOf) int {
		return cmp.Or(cmp.Compare(a.samples, b.samples), cmp.Compare(a.depth, b.depth), cmp.Compare(a.name, b.name))
	})
	return out
}

// callersOf returns what is above a function on some stacks, but not itself.
func callersOf(c *diagnosis.Case, function string, stacks map[timeline.StackID]int) map[string]bool {
	above := map[string]bool{}
	for stack := range stacks {
		called := false
		for _, f := range c.StackFrames(stack) {
			if name := symbol.Name(f); name == function {
				called = true
			} else if called {
				above[name] = true
			}
		}
	}
	return above
}

// is reports whether a function is of a kind.
func (b *beneathOf) is(of func(recording.Frame) bool) bool {
	for f := range b.lines {
		if of(f) {
			return true
		}
	}
	return false
}

// nameBeneath names the function that has half of the samples of an endpoint's requests
// beneath it and tells most: the outermost that makes something for as long in each of them,
// else the innermost of a library.
func nameBeneath(c *diagnosis.Case, s *diagnosis.Symptom, list []sampling, cd *diagnosis.Candidate) {
	var at, makes *beneathOf
	for _, b := range functionsOver(c, list) {
		if at == nil && b.is(symbol.Brought) {
			at = b
		}
		if b.is(symbol.Makes) {
			makes = b
		}
	}
	words := ""
	if makes != nil && alike(c, s) {
		at, words = makes, ", for about as long in each request"
		cd.Fix = "if what " + at.name + " makes is the same for each request, make it once and keep it; else " + cd.Fix
		cd.Next = "see whether what " + at.name + " makes depends on the request"
	}
	if at == nil {
		return
	}
	share := diagnosis.ShareOf(int64(at.samples), int64(len(list)))
	if place := at.place(c); !strings.HasPrefix(cd.Place, at.name+" (") && place != cd.Place {
		cd.Title += "; " + diagnosis.Percent(share) + " beneath " + place
	}
	cd.Title += words
	cd.Evidence = append(cd.Evidence, diagnosis.Part("of the sampled CPU time is beneath "+at.name, share))
}

// alike reports that an endpoint's requests compute for about as long each: of ten the
// third dearest at most a half more than the third cheapest.
func alike(c *diagnosis.Case, s *diagnosis.Symptom) bool {
	cost := ownCost(c)
	list := make([]Duration, 0, len(s.Requests))
	for _, id := range s.ByID() {
		list = append(list, cost[id])
	}
	diagnosis.Sort(list)
	return len(list) > 0 && 2*diagnosis.Quantile(list, 70) <= 3*diagnosis.Quantile(list, 30)
}
