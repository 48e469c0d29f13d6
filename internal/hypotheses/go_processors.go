package hypotheses

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// processors are those that Go allows a process (fewer than the host has), and what requests waited for a turn on them,
// while no thread of the process waited for a processor of the host.
type processors struct {
	of    *timeline.Process
	spans []diagnosis.Span
}

// fewProcessors returns those that requests waited for most; nil if there are none.
func fewProcessors(c *diagnosis.Case) *processors {
	few := map[recording.ProcessID]*processors{}
	for i := range c.Processes {
		if p := &c.Processes[i]; p.Procs > 0 && p.Procs < c.Manifest.CPUs {
			few[p.ID] = &processors{of: p}
		}
	}
	if len(few) == 0 {
		return nil
	}
	ready := readyThreads(c)
	c.SpansOf(timeline.CauseRunnable, func(r *timeline.Request, g *timeline.Segment) bool {
		if k := few[r.Process]; k != nil && !ofThread(c, g) {
			k.turns(r.ID, g, ready[r.Process])
		}
		return false
	})
	var most *processors
	for i := range c.Processes {
		if k := few[c.Processes[i].ID]; k != nil && len(k.spans) > 0 && (most == nil || diagnosis.Total(k.spans) > diagnosis.Total(most.spans)) {
			most = k
		}
	}
	return most
}

// turns adds what is left of a wait of a goroutine without the times in which a thread was ready.
func (k *processors) turns(id diagnosis.RequestID, g *timeline.Segment, ready []timeline.Interval) {
	at := g.From
	for _, iv := range timeline.Clipped(ready, g.From, g.To) {
		if at < iv.From {
			k.spans = append(k.spans, diagnosis.Span{Request: id, From: at, To: iv.From})
		}
		at = max(at, iv.To)
	}
	if at < g.To {
		k.spans = append(k.spans, diagnosis.Span{Request: id, From: at, To: g.To})
	}
}

func (k *processors) candidate(c *diagnosis.Case) diagnosis.Candidate {
	share := diagnosis.ShareOf(int64(diagnosis.Total(k.spans)), int64(c.Time()))
	limit := "GOMAXPROCS of " + cmp.Or(k.of.Comm, "the service")
	fix := "raise GOMAXPROCS, or the CPU limit of the container (from Go 1.25 on, GOMAXPROCS follows it)"
	meanwhile := ""
	if at := k.computing(c); at != "" {
		meanwhile = "; meanwhile the processors mostly compute in " + at
		fix += "; make the computation in " + at + " cheaper, or let it yield more often (runtime.Gosched)"
	}
	n := strconv.FormatInt(k.of.Procs, 10)
	return diagnosis.Candidate{
		Place:  limit,
		Title:  "Goroutines wait for their turn to run: " + diagnosis.Percent(share) + " of all request time. Go runs " + n + " at a time (GOMAXPROCS=" + n + "), on a host with " + diagnosis.Plural(int(c.Manifest.CPUs), "processor") + meanwhile,
		Fix:    fix,
		Next:   "dwell show REC --slowest 3 shows where requests wait for their turn",
		Lead:   "waiting for their turn in Go takes " + diagnosis.Percent(share) + " of all request time",
		Spans:  k.spans,
		Proven: share >= diagnosis.Whole/2,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of all request time is spent waiting for a turn", share),
			diagnosis.Count("goroutines that can run at the same time (GOMAXPROCS)", int(k.of.Procs)),
			diagnosis.Count("processors of the host", int(c.Manifest.CPUs)),
		},
	}
}

// joined returns the spans of time in which any request waited, in order and disjoint.
func (k *processors) joined() []diagnosis.Span {
	spans := slices.Clone(k.spans)
	slices.SortFunc(spans, func(a, b diagnosis.Span) int { return cmp.Compare(a.From, b.From) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// computing names the place in the service's own code that ran for most of the time in
// which requests waited for their turn; "" if samples do not tell.
func (k *processors) computing(c *diagnosis.Case) string {
	joined := k.joined()
	sites, all := tally{}, 0
	for i := range c.Strands {
		if c.Strands[i].Process != k.of.ID {
			continue
		}
		for _, a := range c.Strands[i].Stacks {
			n, _ := slices.BinarySearchFunc(joined, a.Time, func(s diagnosis.Span, at diagnosis.Time) int { return cmp.Compare(s.To, at) })
			if a.Origin != recording.StackOnCPU || n == len(joined) || joined[n].From > a.Time {
				continue
			}
			all++
			for _, f := range c.StackFrames(a.Stack) {
				if symbol.Application(f) {
					sites[symbol.Name(f)]++
					break
				}
			}
		}
	}
	name, _ := sites.most()
	if all < fewSamples || int64(sites[name])*2 < int64(all) {
		return ""
	}
	return name
}
