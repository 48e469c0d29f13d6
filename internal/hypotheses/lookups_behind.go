package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// behindLookups is what requests wait, before a connection is opened for them, until the names of other calls are looked up:
// as many are at once, when that begins and when it ends, as ever are.
type behindLookups struct {
	spans []diagnosis.Span
	most  int // names at once, of the process with most
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

// words say how much of the time requests wait behind others' look-ups; "" if none.
func (b *behindLookups) words(c *diagnosis.Case) string {
	if len(b.spans) == 0 {
		return ""
	}
	_, share := perMean(c, diagnosis.Total(b.spans))
	return "; in another " + diagnosis.Percent(share) + " requests wait behind those of others, of which no more than " + diagnosis.Thousands(int64(b.most)) + " are made at once"
}

// fix says how more can be; "" if none waits.
func (b *behindLookups) fix() string {
	switch {
	case len(b.spans) == 0:
		return ""
	case b.rt == recording.RuntimeNode:
		return "let more names be looked up at once: a larger UV_THREADPOOL_SIZE (half of those threads do it, 2 unless told), or dns.resolve, which needs none (a lookup function of the agent's); "
	}
	return "let more names be looked up at once: more threads that do it, or a resolver that needs none; "
}
