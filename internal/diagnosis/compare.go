package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Compared is one side of a comparison.
type Compared struct {
	Timeline  *timeline.Timeline
	Diagnosis *Diagnosis
	Program   string // to compare; "" chooses one
}

// Comparison is what differs between two recordings.
type Comparison struct {
	A, B        Profile
	Measures    []MeasurePair
	Frames      []FramePair // those with the largest difference first
	Unexercised []MeasurePair
	Unseen      []FramePair // code in which B spent CPU time and A did not
	Endpoints   []EndpointPair
	Findings    []FindingPair
	SLOs        [2][]SLOResult // of A and of B
}

// MeasurePair is one measure on both sides. If one side lacks it, it was not recorded there or makes no sense for it.
type MeasurePair struct {
	Group, What string
	Unit        Unit
	A, B        int64
	HasA, HasB  bool
}

// FramePair is a function on both sides.
type FramePair struct {
	Function string
	A, B     FrameShare
}

// EndpointPair is an endpoint on both sides. A side without requests for it has zero values.
type EndpointPair struct {
	Name         string
	NA, NB       int // requests
	P50A, P50B   Duration
	P99A, P99B   Duration
	Noise50      Duration // between two halves of the same recording, the larger of both
	Noise99      Duration
	Predicted50  Duration // what the findings of A that B does not have were predicted to save
	Predicted99  Duration
	AnyPredicted bool
	AtLeast      bool // one of the predictions was a lower bound
}

// FindingPair is a finding at an endpoint: of A, of B, or of both.
type FindingPair struct {
	ID, Endpoint string
	A, B         *Finding
	Unclear      string // why the side without it could not have found it; "" if it could
}

// Compare compares two recordings.
func Compare(a, b Compared) *Comparison {
	a.Program, b.Program = programs(a, b)
	c := &Comparison{A: NewProfile(a.Timeline, a.Program), B: NewProfile(b.Timeline, b.Program)}
	c.SLOs = [2][]SLOResult{a.Diagnosis.SLOs, b.Diagnosis.SLOs}
	c.measures()
	c.frames()
	c.unexercised()
	c.findings(a.Diagnosis, b.Diagnosis)
	c.endpoints(a.Diagnosis, b.Diagnosis)
	return c
}

// programs chooses what to compare: the program that serves requests; else one that both sides have; else the one that
// uses most CPU.
func programs(a, b Compared) (string, string) {
	x, y := cmp.Or(a.Program, serving(a.Timeline)), cmp.Or(b.Program, serving(b.Timeline))
	if x == "" && y == "" {
		inB := Programs(b.Timeline)
		for _, name := range Programs(a.Timeline) {
			if !builds(name) && slices.Contains(inB, name) {
				return name, name
			}
		}
	}
	if x == "" {
		x = first(Programs(a.Timeline))
	}
	if y == "" {
		y = first(Programs(b.Timeline))
	}
	return x, y
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// serving returns the program that served most requests; "" if none did.
func serving(t *timeline.Timeline) (name string) {
	counts, of := map[string]int{}, programNames(t)
	for i := range t.Requests {
		p := of[t.Requests[i].Process]
		if counts[p]++; counts[p] > counts[name] || name == "" {
			name = p
		}
	}
	return name
}

func (c *Comparison) measures() {
	index := map[[2]string]int{}
	for side, list := range [][]Measure{c.A.Measures, c.B.Measures} {
		for _, m := range list {
			k := [2]string{m.Group, m.What}
			i, known := index[k]
			if !known {
				i = len(c.Measures)
				index[k] = i
				c.Measures = append(c.Measures, MeasurePair{Group: m.Group, What: m.What, Unit: m.Unit})
			}
			if side == 0 {
				c.Measures[i].A, c.Measures[i].HasA = m.Value, true
			} else {
				c.Measures[i].B, c.Measures[i].HasB = m.Value, true
			}
		}
	}
	order := []string{"concurrency", "cpu", "waits", "storage", "requests"}
	slices.SortStableFunc(c.Measures, func(x, y MeasurePair) int {
		return cmp.Compare(slices.Index(order, x.Group), slices.Index(order, y.Group))
	})
}

func (c *Comparison) frames() {
	if c.A.Samples == 0 || c.B.Samples == 0 {
		return
	}
	index := map[string]int{}
	for _, f := range c.A.Frames {
		index[f.Function] = len(c.Frames)
		c.Frames = append(c.Frames, FramePair{Function: f.Function, A: f})
	}
	for _, f := range c.B.Frames {
		if i, known := index[f.Function]; known {
			c.Frames[i].B = f
		} else {
			c.Frames = append(c.Frames, FramePair{Function: f.Function, B: f})
		}
	}
	slices.SortFunc(c.Frames, func(x, y FramePair) int {
		return cmp.Or(cmp.Compare(abs(y.A.Under-y.B.Under), abs(x.A.Under-x.B.Under)), cmp.Compare(x.Function, y.Function))
	})
}

func abs(s Share) Share { return max(s, -s) }

// exercised returns, by measure, the smallest value that counts as having exercised it.
func exercised() map[string]int64 {
	return map[string]int64{
		threadsAtOnce: 8, goroutinesAtOnce: 16, requestsAtOnce: 8,
		threadsReady: 1000, lockContention: 100,
		syncsWaited: 1000, majorFaults: 1000, fetchedBytes: 1_000_000_000, largestFile: 1_000_000, residentMemory: 64_000_000,
	}
}

const (
	// fewer is how many times less of something counts as not exercised.
	fewer = 4
	// minSamples is the number of samples from which on code without a sample was hardly run.
	minSamples = 100
	// hot and cold: code with at least the share hot of samples was exercised, code with less than cold was not.
	hot, cold = Whole / 20, Whole / 200
)

// unexercised finds what B did and A hardly did.
func (c *Comparison) unexercised() {
	floors := exercised()
	for _, m := range c.Measures {
		if floor, ok := floors[m.What]; ok && m.HasB && m.B >= floor && m.A*fewer <= m.B {
			c.Unexercised = append(c.Unexercised, m)
		}
	}
	if c.A.Samples < minSamples {
		return
	}
	for _, f := range c.Frames {
		if f.B.Under >= hot && f.A.Under < cold {
			c.Unseen = append(c.Unseen, f)
		}
	}
	slices.SortStableFunc(c.Unseen, func(x, y FramePair) int {
		return cmp.Or(cmp.Compare(b2i(y.B.Own), b2i(x.B.Own)), cmp.Compare(y.B.Self, x.B.Self), cmp.Compare(y.B.Under, x.B.Under))
	})
}
