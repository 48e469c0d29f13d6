package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func childProcess() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "child-process",
		Title: "Requests start programs and wait for them",
		Doc: "Supported by the time in which a strand that a request depends on waited for a program that its process started: until it ran (vfork), for what it writes " +
			"(a read or poll that a thread of it ended), for its end (wait), itself or through a helper thread that it waits for; of Node, from when a request started one until it ended or the request went on. Programs that stay and are handed work are counted in that, too; how many were started is evidence. " +
			"Taken out of each request: those waits, and what it waits for an event loop that itself waits for a program meanwhile, as for one to run; what the strand itself computes to start a program goes as well, and is not told apart, so that the saving is a lower bound. What the program computes stays, if it is done in the request all the same: its CPU time is evidence.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"event-loop-blocked", "run-queue", "accept-queue", "load"},
		Test:     testChildProcess,
	}
}

func testChildProcess(c *diagnosis.Case) diagnosis.Result {
	s := spentIn(c, timeline.CauseIPC, childStays(c))
	ran := startedBy(c, s.stays)
	ev := append(s.evidence(c, "waiting for programs that it started"), ran.evidence(c)...)
	res := diagnosis.Result{Evidence: ev, Hidden: c.Gaps(), Lead: s.lead(c, "waiting for programs that requests start")}
	behind := behindStarts(c)
	if s.total == 0 && len(behind) == 0 {
		return res
	}
	others := ""
	if mean, share := perMean(c, diagnosis.Total(behind)); share >= c.Worth {
		others = "; others wait " + diagnosis.Human(mean) + " more on average for the loop, which sleeps until they run"
		ev = append(ev, diagnosis.Part("of all request time waits for an event loop that waits for a program", share))
	}
	name, _ := ran.names.most()
	what := "programs"
	if name != "" {
		what = "programs (" + name + " most of all)"
	}
	res.Candidates = []diagnosis.Candidate{{
		Place:    s.place(c),
		Title:    "Requests start " + what + " and wait for them: " + meanWords(c, spansOf(s.stays)) + s.from() + others,
		Fix:      childFix(ran.rt),
		Next:     "dwell show REC --slowest 3 shows each wait; strace -f -c of the program tells what its start takes",
		Spans:    append(s.spans(c), behind...),
		Evidence: ev,
		AtLeast:  true, // what the strand computes to start them is not told from its other work
	}}
	return res
}

// childStays are the waits for programs. A loop sleeps for its sockets meanwhile, and who waits
// for a helper for that: there the time of a request is for a program if no sleep of the
// strand's own is.
func childStays(c *diagnosis.Case) []stay {
	beside := func(s *timeline.Segment) bool {
		if s.Quality != timeline.Inferred || s.Phase != timeline.PhaseHandler || s.Strand == timeline.None {
			return false
		}
		w := c.SleepAt(s.Strand, s.From)
		return w == timeline.None || c.Waits[w].Cause != timeline.CauseIPC
	}
	out := slices.DeleteFunc(stays(c, timeline.CauseIPC, func(s *timeline.Segment) bool { return !beside(s) }), func(x stay) bool {
		return x.wait == timeline.None || c.Waits[x.wait].Rule != timeline.RuleChild
	})
	for _, id := range c.With(timeline.CauseIPC) {
		for s := c.Requests[id].Segments(); s.Next(); {
			if s.Cause == timeline.CauseIPC && beside(&s.Segment) {
				out = append(out, stay{diagnosis.Span{Request: id, From: s.From, To: s.To}, s.Strand, timeline.None})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b stay) int { return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From)) })
	return out
}

// behindStarts returns what requests wait for event loops that wait for a program meanwhile.
func behindStarts(c *diagnosis.Case) (out []diagnosis.Span) {
	for _, loop := range c.Loops() {
		var waits []hold
		for _, id := range c.Sleeps(loop) {
			if w := &c.Waits[id]; w.Rule == timeline.RuleChild {
				waits = append(waits, hold{from: w.From, to: w.Back, by: timeline.None})
			}
		}
		out = append(out, waitsBehind(c, loop, waits)...)
	}
	return out
}

// startedPrograms are those that strands of requests started, as far as they began in the recording.
type startedPrograms struct {
	count int
	cpu   Duration // of them together
	names tally    // by how long they lived
	rt    recording.Runtime
}

// startedBy collects them: what strands of requests started, and the threads that goroutines of requests waited on meanwhile.
func startedBy(c *diagnosis.Case, waited []stay) startedPrograms {
	serves := map[timeline.StrandID]bool{}
	on := map[timeline.StrandID][]diagnosis.RequestID{}
	for i := range waited {
		if w := waited[i].wait; w != timeline.None {
			on[c.Waits[w].Strand] = append(on[c.Waits[w].Strand], waited[i].Request)
		}
	}
	during := func(p *timeline.Process) bool {
		return slices.ContainsFunc(on[p.By], func(r diagnosis.RequestID) bool { return p.Born >= c.Requests[r].Start && p.Born < c.Requests[r].End })
	}
	for _, id := range c.Measured() {
		serves[c.Requests[id].Strand] = true
		for _, p := range c.Requests[id].Parts {
			serves[p.Strand] = true
		}
	}
	out := startedPrograms{names: tally{}}
	of, comm := map[recording.ProcessID]bool{}, map[recording.ProcessID]string{}
	for i := range c.Processes {
		comm[c.Processes[i].ID] = c.Processes[i].Comm
	}
	for i := range c.Processes {
		p := &c.Processes[i]
		if p.By == timeline.None || p.Born <= c.Start || !serves[p.By] && !during(p) {
			continue
		}
		of[p.ID] = true
		out.count++
		end := p.End
		if end == recording.NoTime {
			_, end = c.Busy()
		}
		name := p.Comm
		if name == comm[c.Strands[p.By].Process] { // its own program was not seen to begin
			name = ""
		}
		out.names[name] += max(1, end.Sub(p.Born))
		out.rt = runtimeOf(c, c.Strands[p.By].Process)
	}
	for i := range c.Strands {
		st := &c.Strands[i]
		if !of[st.Process] {
			continue
		}
		for _, iv := range st.Intervals {
			if iv.State == timeline.StateRunning {
				out.cpu += iv.To.Sub(iv.From)
			}
		}
	}
	return out
}

func (p *startedPrograms) evidence(c *diagnosis.Case) []diagnosis.Evidence {
	if p.count == 0 {
		return nil
	}
	n := max(1, len(c.Overall.Requests))
	return []diagnosis.Evidence{
		{What: "programs started for a request", Value: int64(p.count) * 1000 / int64(n), Unit: diagnosis.UnitRatio},
		diagnosis.NS("mean CPU time of them for a request", p.cpu/Duration(n)),
	}
}

func childFix(rt recording.Runtime) string {
	const general = "do that work in the process, with a library; or keep the program running and hand it one job after the other"
	switch rt {
	case recording.RuntimePython:
		return general + " (concurrent.futures.ProcessPoolExecutor); or start it beside the request, and answer before it ends"
	case recording.RuntimeNode:
		return general + " (worker_threads, or child_process.fork once); or start it beside the request, and answer before it ends"
	}
	return general + "; or start it beside the request, and answer before it ends"
}
