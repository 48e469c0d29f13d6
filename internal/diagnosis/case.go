package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Case is what a hypothesis tests: a Timeline, its Symptoms and the bounds.
type Case struct {
	*timeline.Timeline
	Options
	Overall  Symptom     // all measured requests
	Symptoms []Symptom   // endpoints with enough requests to decide anything, or with most of the time; if there are none, all requests together
	spans    [2]Time     // from the first start to the last end of a measured request
	measured []RequestID // the requests of Overall, in order of id
	shared   map[string]any
	once     *once
}

// NewCase returns what hypotheses would test for a timeline.
func NewCase(tl *timeline.Timeline, o Options) *Case {
	c, _ := newCase(tl, o)
	return c
}

func newCase(tl *timeline.Timeline, o Options) (*Case, []Symptom) {
	c := &Case{Timeline: tl, Options: o.withDefaults(), once: newOnce()}
	all, overall, each := symptoms(tl, c.Options)
	c.Overall, c.measured = overall, all
	c.Symptoms = judged(c, overall, each)
	for i, id := range c.measured {
		r := &tl.Requests[id]
		if i == 0 || r.Start < c.spans[0] {
			c.spans[0] = r.Start
		}
		c.spans[1] = max(c.spans[1], r.End)
	}
	return c, each
}

// judged returns the symptoms that hypotheses are tested against: the endpoints with enough requests. An endpoint with
// few requests also counts if it takes most of the time. If no endpoint has enough requests, all requests together are
// the one symptom; a single endpoint stands for itself.
func judged(c *Case, overall Symptom, each []Symptom) (list []Symptom) {
	for i := range each {
		s := &each[i]
		if s.Few = len(s.Requests) < c.MinRequests; !s.Few || 2*s.total > overall.total && len(overall.Requests) >= c.MinRequests {
			list = append(list, *s)
		}
	}
	enough := slices.ContainsFunc(list, func(s Symptom) bool { return !s.Few })
	switch {
	case enough:
		return list
	case len(each) == 1:
		return each
	case len(each) > 0:
		overall.Few = len(overall.Requests) < c.MinRequests
		return []Symptom{overall} // many endpoints, few requests each
	}
	return nil
}

// few reports whether nothing can be decided about any endpoint.
func (c *Case) few() bool {
	return !slices.ContainsFunc(c.Symptoms, func(s Symptom) bool { return !s.Few })
}

// Busy returns the time from the first measured request's start to the last one's end: rates and utilisations refer to
// this span.
func (c *Case) Busy() (from, to Time) { return c.spans[0], c.spans[1] }

// BusyTime returns how much of that span was recorded.
func (c *Case) BusyTime() Duration { return c.InWindows(c.spans[0], c.spans[1]) }

// Once returns a value that several hypotheses need and none of them changes. It is made once per name, from the
// timeline alone: the first worker that asks makes it, and other workers that ask meanwhile wait for it.
func (c *Case) Once(name string, made func() any) any {
	return c.Shared(name, func() any {
		if c.once == nil { // a test's
			return made()
		}
		t, first := c.once.of(name)
		if !first {
			<-t.done
			return t.value
		}
		defer close(t.done)
		t.value = made()
		return t.value
	})
}

// once holds what is made once, by name.
type once struct {
	turn   chan struct{} // taken by the worker that reads or changes things
	things map[string]*thing
}

// thing is one such value.
type thing struct {
	done  chan struct{} // closed when the value is ready
	value any
}

func newOnce() *once {
	return &once{turn: make(chan struct{}, 1), things: map[string]*thing{}}
}

// of returns the thing of a name, and whether the caller has to make it.
func (o *once) of(name string) (t *thing, first bool) {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	t, known := o.things[name]
	if !known {
		t = &thing{done: make(chan struct{})}
		o.things[name] = t
	}
	return t, !known
}

// Shared returns a value that several hypotheses need and may change, because they look up more in it. It is made once
// per name and worker.
func (c *Case) Shared(name string, made func() any) any {
	v, ok := c.shared[name]
	if !ok {
		if v = made(); c.shared == nil {
			c.shared = map[string]any{}
		}
		c.shared[name] = v
	}
	return v
}

// Measured returns the measured requests in order of id.
func (c *Case) Measured() []RequestID { return c.measured }

// Merged returns spans in order, clipped to their requests, with overlaps joined; it drops those of requests that are
// not measured.
func (c *Case) Merged(spans []Span) []Span { return normal(c.Timeline, spans) }

// Total sums the lengths of spans.
func Total(spans []Span) (d Duration) {
	for _, s := range spans {
		d += s.To.Sub(s.From)
	}
	return d
}

// Time returns the summed duration of the measured requests.
func (c *Case) Time() Duration { return c.Overall.total }

// Loops returns the strands that are event loops.
func (c *Case) Loops() (ids []timeline.StrandID) {
	for i := range c.Strands {
		if c.Strands[i].Loop {
			ids = append(ids, timeline.StrandID(i))
		}
	}
	return ids
}

// Running returns how long a strand was on a CPU between two times.
func (c *Case) Running(id timeline.StrandID, from, to Time) Duration {
	return c.In(id, timeline.StateRunning, from, to)
}

// In returns how long a strand was in a state between two times.
func (c *Case) In(id timeline.StrandID, state timeline.State, from, to Time) (d Duration) {
	ivs := c.Strands[id].Intervals
	i, _ := slices.BinarySearchFunc(ivs, from, func(iv timeline.Interval, t Time) int {
		if iv.To <= t {
			return -1
		}
		return 1
	})
	for ; i < len(ivs) && ivs[i].From < to; i++ {
		if ivs[i].State == state {
			d += min(ivs[i].To, to).Sub(max(ivs[i].From, from))
		}
	}
	return d
}
