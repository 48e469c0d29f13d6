package hypotheses

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// aimless are the waits for look-ups that belong to no call: something asks for names, or for
// the names of addresses, and connects to none of them.
type aimless struct {
	total Duration
	at    lined            // by the line of the service's own code
	paths map[string]tally // by function of that: what it called
}

func aimlessLookups(c *diagnosis.Case) *aimless {
	a := &aimless{at: lined{}, paths: map[string]tally{}}
	for _, s := range stays(c, timeline.CauseRemote, func(g *timeline.Segment) bool {
		return g.Phase == timeline.PhaseDNS && g.Call == timeline.None
	}) {
		d := s.To.Sub(s.From)
		a.total += d
		frames := c.StackFrames(stackOf(c, &s))
		i := slices.IndexFunc(frames, symbol.Application)
		if i < 0 {
			continue
		}
		a.at.add(c, frames[i], d)
		path := towards(frames[:i], symbol.Managed(frames[i]))
		name := symbol.Name(frames[i])
		if a.paths[name] == nil {
			a.paths[name] = tally{}
		}
		a.paths[name][strings.Join(path, " > ")] += d
	}
	return a
}

// pathFrames is how many functions beneath the service's own are named: what asks for a name
// is among the first of them.
const pathFrames = 5

// towards names the functions that lead from the service's own code to what asks for a name, the
// outermost first. managed: that code has a runtime, whose own machine code says nothing to
// readers, and of which what it asks the C library for is the last.
func towards(frames []recording.Frame, managed bool) (path []string) {
	for k := len(frames) - 1; k >= 0 && len(path) < pathFrames; k-- {
		f, machine := frames[k], managed && !symbol.Managed(frames[k])
		if machine && !symbol.NativeLock(f) {
			continue
		}
		if path = append(path, symbol.Name(f)); machine {
			break
		}
	}
	return path
}

// words say that look-ups lead to no connection, and in which code they are made; "" if all
// belong to calls.
func (a *aimless) words(c *diagnosis.Case, all Duration) string {
	if a.total == 0 {
		return ""
	}
	said := "; " + diagnosis.Percent(diagnosis.ShareOf(int64(a.total), int64(all))) + " of that is look-ups after which nothing is connected to"
	f, found := a.at.most()
	if !found {
		return said
	}
	said += ", made in " + symbol.Place(f)
	if path, _ := a.paths[symbol.Name(f)].most(); path != "" {
		said += " through " + path
	}
	return said
}

// fix says what to do about look-ups that lead nowhere; "" if there are none.
func (a *aimless) fix() string {
	if a.total == 0 {
		return ""
	}
	return "do not resolve names that nothing is sent to (what compares, logs or counts addresses can take the text as it is); "
}
