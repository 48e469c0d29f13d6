package hypotheses

import (
	"cmp"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// lined is time by the function in which it was spent, and by the line in that.
type lined map[string]map[recording.Frame]Duration

// add books time at a frame.
func (l lined) add(c *diagnosis.Case, f recording.Frame, d Duration) {
	name := symbol.Name(f)
	if l[name] == nil {
		l[name] = map[recording.Frame]Duration{}
	}
	l[name][f] += d
}

// most returns the line with most of the time in the function with most of the time; false if there is none.
func (l lined) most() (at recording.Frame, found bool) {
	functions := tally{}
	for name, lines := range l {
		for _, d := range lines {
			functions[name] += d
		}
	}
	name, _ := functions.most()
	best := Duration(0)
	for f, d := range l[name] {
		if d > best || d == best && cmp.Less(f.ID, at.ID) {
			at, best = f, d
		}
	}
	return at, best > 0
}

// asked returns where in the service's own code requests waited, as far as stacks show.
func asked(c *diagnosis.Case, list []stay) lined {
	at := lined{}
	for i := range list {
		s := &list[i]
		if s.wait == timeline.None {
			continue
		}
		for _, f := range c.StackFrames(c.Waits[s.wait].Stack) {
			if symbol.Application(f) {
				at.add(c, f, s.To.Sub(s.From))
				break
			}
		}
	}
	return at
}

// taken says where in the service's own code a lock is taken, to follow its name.
func (k *contention) taken(c *diagnosis.Case) string {
	if k.lock == timeline.None || k.through != "" && k.through != k.name {
		return ""
	}
	f, found := asked(c, k.stays).most()
	if !found {
		return ""
	}
	place, name := symbol.Place(f), symbol.Name(f)
	switch line := strings.TrimPrefix(place, name); {
	case line == "" || strings.Contains(k.name, place):
		return ""
	case strings.Contains(k.name, name):
		return line
	}
	return ", taken in " + place
}
