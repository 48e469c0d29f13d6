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

// beneathOf is a function with the samples in it and beneath it.
type beneathOf struct {
	spot
	depth int // summed number of calls between it and what was sampled
}

// functionsOver returns the functions with at least half of some samples in or beneath them, the innermost first. Of
// each stack it counts the innermost function of the service's own code and what that calls. Functions that call the
// own function with the most samples, as a server does, are left out. If no function is known to be the service's own,
// the language's own library is left out too, because it contains servers.
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

// callersOf returns the functions above a function of the service's own on some stacks, without that function.
func callersOf(c *diagnosis.Case, function string, stacks map[timeline.StackID]int) map[string]bool {
	above := map[string]bool{}
	for stack := range stacks {
		called := false
		for _, f := range c.StackFrames(stack) {
			if name := symbol.Name(f); name == function && symbol.Application(f) { // a library's function may be nameless, too
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

// tellsMost returns the function that has half of some samples beneath it and says most. That is the outermost one that
// makes something, if that takes about as long each time (alike); else the innermost one of a library; nil if there is
// none.
func tellsMost(c *diagnosis.Case, list []sampling, alike func() bool) (at *beneathOf, makes bool) {
	var maker *beneathOf
	for _, b := range functionsOver(c, list) {
		if at == nil && b.is(symbol.Brought) {
			at = b
		}
		if b.is(symbol.Makes) {
			maker = b
		}
	}
	if maker != nil && alike() {
		return maker, true
	}
	return at, false
}

// onceFix advises to make once what a function makes, before another fix.
func (b *beneathOf) onceFix(fix string) string {
	return "if the result of " + b.name + " is the same for every request, compute it once and keep it; otherwise " + fix
}

// nameBeneath adds to a candidate the function that has half of the samples of an endpoint's requests beneath it and
// says most.
func nameBeneath(c *diagnosis.Case, s *diagnosis.Symptom, list []sampling, cd *diagnosis.Candidate) {
	at, makes := tellsMost(c, list, func() bool { return alike(c, s) })
	if at == nil {
		return
	}
	share := diagnosis.ShareOf(int64(at.samples), int64(len(list)))
	if place := at.place(c); !strings.HasPrefix(cd.Place, at.name+" (") && place != cd.Place {
		cd.Title += "; " + diagnosis.Percent(share) + " in and beneath " + place
	}
	if makes {
		cd.Title += ", about as long in each request"
		cd.Fix = at.onceFix(cd.Fix)
		cd.Next = "see whether the result of " + at.name + " depends on the request"
	}
	cd.Evidence = append(cd.Evidence, diagnosis.Part("of the sampled CPU time is in and beneath "+at.name, share))
}

// alike reports whether an endpoint's requests compute for about as long each.
func alike(c *diagnosis.Case, s *diagnosis.Symptom) bool {
	cost := ownCost(c)
	list := make([]Duration, 0, len(s.Requests))
	for _, id := range s.ByID() {
		list = append(list, cost[id])
	}
	return even(list)
}

// even reports whether lengths differ little: the third longest of ten is at most one and a half times the third
// shortest. It sorts them.
func even(list []Duration) bool {
	diagnosis.Sort(list)
	return len(list) > 0 && 2*diagnosis.Quantile(list, 70) <= 3*diagnosis.Quantile(list, 30)
}
