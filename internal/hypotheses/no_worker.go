package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// absence is what requests waited in the listening socket while none of a service's processes was there to accept them:
// the last one had served its last request, and the next was still starting.
type absence struct {
	spans   []diagnosis.Span
	ended   int        // processes that had served requests and ended
	starts  []Duration // of those that followed: from their beginning until their first request was read
	late    []Duration // from the last answer to the beginning of the next
	served  []int      // requests by process that ended
	longest Duration
	process recording.ProcessID // one of those that started
}

// absentShare: if no process had begun for this part of a start, one in so many, that is said.
const absentShare = 10

// tenureOf is when a process was there for requests: from the first that it read to the last that it answered. If it
// lived when the recording began, or ended, it is from then on, or until then.
type tenureOf struct {
	process  recording.ProcessID
	from, to diagnosis.Time
	born     diagnosis.Time // when its program began; NoTime: not known, before the recording
	ended    bool
	served   int
}

// byListener groups requests by the address and port that they came to.
func byListener(c *diagnosis.Case) map[string][]diagnosis.RequestID {
	local := map[recording.ConnID]string{}
	for i := range c.Conns {
		local[c.Conns[i].ID] = c.Conns[i].Local
	}
	by := map[string][]diagnosis.RequestID{}
	for i := range c.Requests {
		at := local[c.Requests[i].Conn]
		by[at] = append(by[at], diagnosis.RequestID(i))
	}
	return by
}

// tenures lists the tenures of the processes that served requests, in order of their beginning.
func tenures(c *diagnosis.Case, requests []diagnosis.RequestID) []tenureOf {
	index := map[recording.ProcessID]int{}
	var list []tenureOf
	for _, id := range requests {
		r := &c.Requests[id]
		if r.FirstRead == recording.NoTime || r.Strand == timeline.None {
			continue
		}
		k, known := index[r.Process]
		if !known {
			k = len(list)
			index[r.Process] = k
			list = append(list, tenureOf{process: r.Process, from: r.FirstRead, to: r.End})
		}
		list[k].from, list[k].to = min(list[k].from, r.FirstRead), max(list[k].to, r.End)
		list[k].served++
	}
	for i := range c.Processes {
		p := &c.Processes[i]
		k, known := index[p.ID]
		if !known {
			continue
		}
		if list[k].born = p.Born; p.Born != recording.NoTime && p.Born < c.Start {
			list[k].from = c.Start
		}
		if list[k].ended = p.End != recording.NoTime; list[k].ended {
			list[k].to = min(list[k].to, p.End)
		} else {
			list[k].to = c.End
		}
	}
	slices.SortFunc(list, func(a, b tenureOf) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.process, b.process)) })
	return list
}

// absences finds the waits for a process to be there, at each address that requests came to.
func absences(c *diagnosis.Case) *absence {
	a := &absence{}
	by := byListener(c)
	for _, at := range slices.Sorted(maps.Keys(by)) {
		a.find(c, by[at])
	}
	slices.SortFunc(a.spans, func(x, y diagnosis.Span) int { return cmp.Compare(x.Request, y.Request) })
	slices.Sort(a.starts)
	slices.Sort(a.late)
	slices.Sort(a.served)
	return a
}

// find adds the waits of the requests that came to one address.
func (a *absence) find(c *diagnosis.Case, requests []diagnosis.RequestID) {
	list := tenures(c, requests)
	var gaps []window
	there := c.Start
	for i := range list {
		t := &list[i]
		if t.from > there && t.born >= c.Start && i > 0 {
			gaps = append(gaps, window{there, t.from})
			a.starts, a.process = append(a.starts, t.from.Sub(t.born)), t.process
			a.late = append(a.late, max(0, t.born.Sub(there)))
		}
		if t.ended {
			a.ended++
			a.served = append(a.served, t.served)
		}
		there = max(there, t.to)
	}
	for _, id := range requests {
		r := &c.Requests[id]
		if !r.Measured() {
			continue
		}
		for _, g := range gaps {
			from, to := max(r.Start, g.from), min(r.FirstRead, g.to)
			if from < to {
				a.spans = append(a.spans, diagnosis.Span{Request: id, From: from, To: to})
				a.longest = max(a.longest, to.Sub(from))
			}
		}
	}
}

func (a *absence) candidate(c *diagnosis.Case) diagnosis.Candidate {
	took, late := diagnosis.Quantile(a.starts, 50), diagnosis.Quantile(a.late, 50)
	n, next := len(a.starts), "the next"
	if n == 1 {
		next = processName(c, a.process)
	}
	if late >= took/absentShare {
		next += " started " + diagnosis.Human(late) + " after the last answer and"
	}
	title := "Requests wait while no process runs to accept them: " + diagnosis.Plural(n, "time") + " in " + diagnosis.Human(c.End.Sub(c.Start)) +
		" the last one had ended, " + next + " took " + diagnosis.Human(took) + " from its start to its first request, and " +
		diagnosis.Plural(requestsIn(a.spans), "request") + " waited for it, for up to " + diagnosis.Human(a.longest)
	if a.ended > 1 {
		title += "; " + processes(a.ended) + " ended, after a median of " + diagnosis.Plural(a.served[len(a.served)/2], "request") + " each"
	}
	return diagnosis.Candidate{
		Place: processName(c, a.process),
		Title: title,
		Fix: "let processes live longer (raise the server's limit of requests per worker, with jitter), run more than one so that another can serve meanwhile, start the next before the last ends, " +
			"and load the application once before forking (preload) so that a start takes less time",
		Next:   "dwell show REC --tree --endpoint E shows what the new process computes while it starts",
		Spans:  a.spans,
		Proven: true,
		Lead:   "waiting for a process to start takes " + diagnosis.Percent(diagnosis.ShareOf(int64(diagnosis.Total(a.spans)), int64(c.Time()))) + " of all request time",
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("times that no process ran", n),
			diagnosis.NS("median time from a process's start to its first request", took),
			diagnosis.NS("median time from the last answer to that start", late),
			diagnosis.Count("requests that waited for a process", requestsIn(a.spans)),
			diagnosis.NS("longest wait for a process", a.longest),
			diagnosis.Count("processes that had served requests and ended", a.ended),
		},
	}
}

// requestsIn counts the requests that spans belong to.
func requestsIn(spans []diagnosis.Span) int {
	seen := map[diagnosis.RequestID]bool{}
	for _, s := range spans {
		seen[s.Request] = true
	}
	return len(seen)
}
