package hypotheses

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// aimless describes the waits for look-ups that belong to no call: something asks for names, or for the names of
// addresses, and connects to none of them.
type aimless struct {
	total Duration
	at    lined            // by the line of the service's own code
	paths map[string]tally // by the function of that line: what it called
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

// pathFrames is how many functions beneath the service's own are named: the one that asks for a name is among the first
// of them.
const pathFrames = 5

// towards names the functions from the service's own code to what asks for a name, the outermost first. If that code is
// managed, it has a runtime whose machine code says nothing to readers. Of that only what it asks the C library for is
// named, as the last one.
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

// words says that look-ups lead to no connection, and in which code they are made; "" if all belong to calls.
func (a *aimless) words(c *diagnosis.Case, all Duration) string {
	if a.total == 0 {
		return ""
	}
	said := "; " + diagnosis.Percent(diagnosis.ShareOf(int64(a.total), int64(all))) + " of that is look-ups of names that are never connected to"
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
	return "do not resolve names that are only logged, compared or counted; "
}

// behindLookups describes what requests wait, before a connection is opened for them, until the names of other calls
// are looked up. When such a wait begins and when it ends, as many look-ups are under way as ever are.
type behindLookups struct {
	spans []diagnosis.Span
	most  int // look-ups at once, in the process that has most
	rt    recording.Runtime
}

func newBehindLookups(c *diagnosis.Case) *behindLookups {
	type lookers struct{ from, to []diagnosis.Time }
	of := map[recording.ProcessID]*lookers{}
	for i := range c.Calls {
		if call := &c.Calls[i]; call.DNSFrom != recording.NoTime && call.DNSTo != recording.NoTime {
			l := of[call.Process]
			if l == nil {
				l = &lookers{}
				of[call.Process] = l
			}
			l.from, l.to = append(l.from, call.DNSFrom), append(l.to, call.DNSTo)
		}
	}
	full := map[recording.ProcessID]func(diagnosis.Time) bool{}
	for process, l := range of {
		full[process] = timeline.FullAt(l.from, l.to)
	}
	b := &behindLookups{}
	b.spans = c.SpansAmong(func(r *timeline.Request) bool { return r.HasPhase(timeline.PhaseQueue) }, func(_ *timeline.Request, s *timeline.Segment) bool {
		if s.Phase != timeline.PhaseQueue || s.Cause != timeline.CausePool || s.Call == timeline.None || c.Calls[s.Call].DNSFrom == recording.NoTime {
			return false
		}
		process := c.Calls[s.Call].Process
		aside := diagnosis.Time(min(handedOn, s.To.Sub(s.From)/3))
		l, all := of[process], full[process]
		if l == nil || !all(s.From+aside) || !all(s.To-aside) {
			return false
		}
		if n := timeline.CountUpTo(l.from, s.From+aside) - timeline.CountUpTo(l.to, s.From+aside); n > b.most {
			b.most, b.rt = n, runtimeOf(c, process)
		}
		return true
	})
	return b
}

// words says for how much of the time requests wait behind others' look-ups; "" if none do.
func (b *behindLookups) words(c *diagnosis.Case) string {
	if len(b.spans) == 0 {
		return ""
	}
	_, share := perMean(c, diagnosis.Total(b.spans))
	return "; for another " + diagnosis.Percent(share) + " requests wait behind look-ups of other requests, because only " + diagnosis.Thousands(int64(b.most)) + " run concurrently"
}

// fix says how more names can be looked up at once; "" if nothing waits.
func (b *behindLookups) fix() string {
	switch {
	case len(b.spans) == 0:
		return ""
	case b.rt == recording.RuntimeNode:
		return "let more look-ups run concurrently: a larger UV_THREADPOOL_SIZE (half of those threads resolve names, 2 by default), or dns.resolve, which needs no thread (as the agent's lookup function); "
	}
	return "let more look-ups run concurrently: more threads for them, or an asynchronous resolver; "
}
