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
		Doc: "A request waits until a program runs, for its output, or for its end.\n\n" +
			"Support: the time in which a strand that a request depends on waited for a program that its process started: until the program ran (vfork), for what it writes (a read or poll that one of its threads ended), or for its end (wait). " +
			"The strand may wait itself, or for a helper thread that does. Two more waits count: in Node, from when a request started a program until that ended or the request went on; and waits in place of the event loop, at an epoll instance " +
			"of their own. Programs that stay and are handed work count too. How many programs were started is evidence.\n\n" +
			"Not this: work of processes that the service keeps running, and that pass results on through its threads. That is a lead, because it may be what the requests are for.\n\n" +
			"Saving: those waits are taken out of each request. So is what it waits for an event loop that itself waits for a program meanwhile (as for one to run), or for an interpreter whose holder does (Ruby keeps its interpreter until a " +
			"program runs). What the strand itself computes to start a program would go too, but cannot be told apart, so the saving is a lower bound. We assume that the program's work leaves the request. If the request does that work itself " +
			"instead, the program's CPU time stays; it is given as evidence.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"event-loop-blocked", "interpreter-lock", "run-queue", "accept-queue", "load"},
		Family:   familyInterpreters,
		Test:     testChildProcess,
	}
}

func testChildProcess(c *diagnosis.Case) diagnosis.Result {
	started, kept := childStays(c)
	s := spentIn(c, timeline.CauseIPC, started)
	ran := startedBy(c, s.stays)
	ev := append(s.evidence(c, "waiting for programs that requests start"), ran.evidence(c)...)
	res := diagnosis.Result{Evidence: ev, Hidden: c.Gaps(), Lead: s.lead(c, "waiting for programs that requests start")}
	for _, w := range taskPools(c) {
		if w.away {
			kept = append(kept, w.work...)
		}
	}
	if len(kept) > 0 {
		res.Candidates = append(res.Candidates, keptPrograms(c, kept))
	}
	loops := behindStarts(c)
	interpreters := behindSpawns(c)
	behind := slices.Concat(loops, interpreters)
	if s.total == 0 && len(behind) == 0 {
		return res
	}
	others, fix := "", childFix(ran.rt)
	if mean, share := perMean(c, diagnosis.Total(loops)); share >= c.Worth {
		others = "; meanwhile the event loop itself waits for those programs, and other requests wait " + diagnosis.Human(mean) + " on average for the loop"
		fix = cmp.Or(unblockFix(loopRuntime(c, loops)), fix)
		ev = append(ev, diagnosis.Part("of all request time is spent waiting for an event loop that waits for a program", share))
	}
	if mean, share := perMean(c, diagnosis.Total(interpreters)); share >= c.Worth {
		others += "; the thread that starts one holds the interpreter's lock, and other requests wait " + diagnosis.Human(mean) + " on average for it"
		ev = slices.Insert(ev, 0, diagnosis.Part("of all request time is spent waiting for the interpreter's lock while its holder waits for a program", share))
	}

	res.Candidates = append(res.Candidates, diagnosis.Candidate{
		Place:    s.place(c),
		Title:    "Requests start programs" + ran.mostly() + " and wait for them: " + meanWords(c, spansOf(s.stays)) + s.from() + others,
		Fix:      fix,
		Next:     "dwell show REC --slowest 3 shows each wait; strace -f -c of the program shows what its start costs",
		Spans:    append(s.spans(c), behind...),
		Evidence: ev,
		AtLeast:  true, // what the strand computes to start them cannot be told from its other work
	})
	return res
}

// keptPrograms is the lead about programs that the service keeps running: their work may be what the requests are for.
func keptPrograms(c *diagnosis.Case, waits []stay) diagnosis.Candidate {
	did, names, who := tally{}, tally{}, map[timeline.StrandID]bool{}
	for i := range waits {
		s := &waits[i]
		who[s.strand] = true
		names[c.Strands[s.strand].Name] += s.To.Sub(s.From)
		for _, a := range c.Doing(s.strand, s.From, s.To) {
			did[doingWords(c, &a)] += a.To.Sub(a.From)
		}
	}
	name, _ := names.most()
	title := "Requests wait " + meanWords(c, spansOf(waits)) + " for helper processes that the service keeps running (" + name + ", " + diagnosis.Thousands(int64(len(who))) + " seen)"
	if what, share := did.most(); share >= diagnosis.Whole/2 {
		title += "; the helpers mostly " + what
	}
	return diagnosis.Candidate{
		Place: "processes " + name, Title: title, Spans: spansOf(waits),
		Fix:      "give the helpers less work per task; or do that work in the process, with a library",
		Next:     "dwell show REC --slowest 3 shows each wait",
		Decide:   "profile the helper processes (py-spy, perf, strace -f): their work may be what these requests are for",
		Evidence: []diagnosis.Evidence{diagnosis.Count("waits that ended with a helper's result", len(waits)), diagnosis.Count("processes", len(who))},
	}
}

// childStays returns the waits for programs. Meanwhile a loop sleeps for its sockets, and a thread that waits for a
// helper sleeps for the helper. There the request's time counts as a wait for a program although the strand's own sleep
// is none. kept are the waits for programs that were started before the recording.
func childStays(c *diagnosis.Case) (started, kept []stay) {
	beside := func(s *timeline.Segment) bool {
		if s.Quality != timeline.Inferred || s.Phase != timeline.PhaseHandler || s.Strand == timeline.None {
			return false
		}
		w := c.SleepAt(s.Strand, s.From)
		return w == timeline.None || c.Waits[w].Cause != timeline.CauseIPC
	}
	before := startedBefore(c)
	for _, x := range stays(c, timeline.CauseIPC, func(s *timeline.Segment) bool { return !beside(s) }) {
		if x.wait == timeline.None || c.Waits[x.wait].Rule != timeline.RuleChild {
			continue
		}
		if by := before.ended(c, x.wait); by != timeline.None {
			x.strand = by
			kept = append(kept, x)
		} else {
			started = append(started, x)
		}
	}
	for _, id := range c.With(timeline.CauseIPC) {
		for s := c.Requests[id].Segments(); s.Next(); {
			if s.Cause == timeline.CauseIPC && beside(&s.Segment) && !before.awaited(c, &s.Segment) {
				started = append(started, stay{diagnosis.Span{Request: id, From: s.From, To: s.To}, s.Strand, timeline.None})
			}
		}
	}
	slices.SortStableFunc(started, func(a, b stay) int { return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From)) })
	return started, kept
}

// olderPrograms maps threads to the strands of processes that were started before the recording.
type olderPrograms map[recording.ThreadID]timeline.StrandID

func startedBefore(c *diagnosis.Case) olderPrograms {
	of, out := map[recording.ProcessID]bool{}, olderPrograms{}
	for i := range c.Processes {
		of[c.Processes[i].ID] = c.Processes[i].By == timeline.None
	}
	for i := range c.Strands {
		if st := &c.Strands[i]; of[st.Process] {
			out[st.Thread] = timeline.StrandID(i)
		}
	}
	return out
}

// ended returns which of them ended a wait of another process; None if none did.
func (p olderPrograms) ended(c *diagnosis.Case, id timeline.WaitID) timeline.StrandID {
	if by, known := p[waker(c, id)]; known && c.Strands[by].Process != c.Strands[c.Waits[id].Strand].Process {
		return by
	}
	return timeline.None
}

// awaited reports whether the helper that a strand waits for meanwhile waits itself for one of them. What those do is
// known from their results (taskPools).
func (p olderPrograms) awaited(c *diagnosis.Case, s *timeline.Segment) bool {
	helper, known := threadStrands(c)[waker(c, c.SleepAt(s.Strand, s.From))]
	if !known {
		return false
	}
	id := c.SleepAt(helper, s.From)
	return id != timeline.None && p.ended(c, id) != timeline.None
}

// waker returns the thread that ended a wait; NoThread if no thread did, or if the wait is None.
func waker(c *diagnosis.Case, id timeline.WaitID) recording.ThreadID {
	if id == timeline.None || c.Waits[id].Off == nil || c.Waits[id].Off.WakerKind != recording.WakerThread {
		return recording.NoThread
	}
	return c.Waits[id].Off.Waker
}

// threadStrands maps each thread to its first strand; its callers share the map.
func threadStrands(c *diagnosis.Case) map[recording.ThreadID]timeline.StrandID {
	return c.Once("strands of threads", func() any {
		of := map[recording.ThreadID]timeline.StrandID{}
		for i := range c.Strands {
			if _, known := of[c.Strands[i].Thread]; !known {
				of[c.Strands[i].Thread] = timeline.StrandID(i)
			}
		}
		return of
	}).(map[recording.ThreadID]timeline.StrandID)
}

// behindSpawns returns what requests wait less for interpreters if the holders no longer wait for programs while they
// hold the lock.
func behindSpawns(c *diagnosis.Case) (out []diagnosis.Span) {
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		gone := waitsWhile(k, func(d *deed) bool { return d.child })
		out = append(append(out, spansOf(gone)...), k.queues(c, gone)...)
	}
	return out
}

// behindStarts returns what requests wait for event loops that meanwhile wait for a program.
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

// startedPrograms describes the programs that strands of requests started during the recording.
type startedPrograms struct {
	count int
	cpu   Duration // of all of them
	names tally    // by how long they lived
	rt    recording.Runtime
}

// startedBy collects them: programs started by strands that serve requests, and by threads on which a goroutine of a
// request waited meanwhile.
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
		out.rt = runtimeOf(c, c.Strands[p.By].Process)
		out.names[programName(p, comm[c.Strands[p.By].Process], out.rt)] += max(1, end.Sub(p.Born))
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

// launcher is the program by which the JVM starts others: it replaces itself by the one that is to run.
const launcher = "jspawnhelper"

// programName names the program that a process ran; "" if that was not seen to begin. by is the name of the process
// that started it, and rt that one's runtime.
func programName(p *timeline.Process, by string, rt recording.Runtime) string {
	switch {
	case p.Comm == by:
		return ""
	case rt != recording.RuntimeJVM:
		return p.Comm
	case p.Comm == launcher:
		return cmp.Or(p.Exe, launcher)
	case p.Exe == "java": // the name of the thread that started it
		return ""
	}
	return p.Comm
}

// mostly names the program that ran for most of the time.
func (p *startedPrograms) mostly() string {
	helper := p.names[launcher]
	delete(p.names, launcher)
	name, _ := p.names.most()
	switch {
	case name != "":
		return " (mostly \"" + name + "\")"
	case helper > 0:
		return " (through the JVM's launcher " + launcher + ")"
	}
	return ""
}

func (p *startedPrograms) evidence(c *diagnosis.Case) []diagnosis.Evidence {
	if p.count == 0 {
		return nil
	}
	n := max(1, len(c.Overall.Requests))
	return []diagnosis.Evidence{
		{What: "programs started per request", Value: int64(p.count) * 1000 / int64(n), Unit: diagnosis.UnitRatio},
		diagnosis.NS("mean CPU time of those programs per request", p.cpu/Duration(n)),
	}
}

// loopRuntime returns the runtime of the process that serves the request of the first span.
func loopRuntime(c *diagnosis.Case, behind []diagnosis.Span) recording.Runtime {
	if len(behind) == 0 {
		return recording.RuntimeNative
	}
	return runtimeOf(c, c.Requests[behind[0].Request].Process)
}

// unblockFix says how to start a program without blocking the event loop; "" if that is not known.
func unblockFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeNode:
		return "start programs without blocking the event loop (child_process.execFile or spawn instead of execFileSync, execSync and spawnSync), or do their work in the process (worker_threads if it computes)"
	case recording.RuntimePython:
		return "start programs without blocking the event loop (asyncio.create_subprocess_exec instead of subprocess.run), or do their work in the process"
	}
	return ""
}

func childFix(rt recording.Runtime) string {
	const general = "do the program's work in the process, with a library; or keep the program running and hand it one job after another"
	switch rt {
	case recording.RuntimePython:
		return general + " (concurrent.futures.ProcessPoolExecutor); or answer the request before the program ends"
	case recording.RuntimeNode:
		return general + " (worker_threads, or child_process.fork once); or answer the request before the program ends"
	}
	return general + "; or answer the request before the program ends"
}
