package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func gcPause() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "gc-pause",
		Title: "The garbage collector stops requests",
		Doc: "The collector stops all threads, works on the request's own thread, or takes the processors.\n\n" +
			"Support: the time in which a strand that a request depends on is stopped with all others of its process (the JVM's safepoints, while its own threads run; Go's, as its runtime stops and starts all goroutines). As far as stack samples show them (Go, V8, CPython, Ruby), these count too:\n\n" +
			"- the collector's work on the request's own strand, or on the event loop that it waits for while a turn takes at least 10 ms;\n" +
			"- waits to be read by a thread that does such work first, and waits for an interpreter whose holder does it;\n" +
			"- waits for a processor while the collector's own threads have them, in its share of what was sampled then (Go).\n\n" +
			"Not this: own CPU leaves it undecided if too little is known of it, because the runtime's stacks were not recorded or under 50 samples of requests' own CPU were taken. So does the own CPU of requests of Go while stops were not recorded.\n\n" +
			"Saving: all of that time is taken out of each request.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"event-loop-blocked", "interpreter-lock", "cpu-bound", "accept-queue", "load", "run-queue"},
		Family:   familyInterpreters,
		Test:     testGCPause,
	}
}

// enoughSamples is how many samples of requests' own CPU show what share of it is one thing.
const enoughSamples = 50

func testGCPause(c *diagnosis.Case) diagnosis.Result {
	s := spentOn(c, timeline.CauseGC)
	did := collecting(c)
	stops, queued := stopped(c), behindCollecting(c)
	unread := behindReadersCollecting(c)
	own, ev := []diagnosis.Span(nil), []diagnosis.Evidence(nil)
	s.at = "" // where threads were when all were stopped says nothing
	for i, part := range []struct {
		what  string
		spans []diagnosis.Span
	}{
		{"the collector's work on requests' own threads, by samples", append(slices.Clone(did.spans), stops...)},
		{"waits for an event loop on which the collector works, by samples", behindCollectors(c)},
		{"waits for the interpreter's lock while its holder collects, by samples", behindInterpretersCollecting(c)},
		{"waits to be read while the thread that reads next collects, by samples", unread},
		{"waits for a processor while the collector's own threads work, by samples", queued},
	} {
		if i == 0 || len(part.spans) > 0 {
			ev = append(ev, diagnosis.NS(part.what, diagnosis.Total(c.Merged(part.spans))))
			own = c.Merged(append(own, part.spans...))
		}
	}
	pauses := pausesOf(c)
	paused := append(s.evidence(c, "stopped by the garbage collector"), diagnosis.Count("pauses of a process", len(pauses)), diagnosis.NS("p99 of the pauses", diagnosis.Quantile(pauses, 99)))
	if ev = append(ev, diagnosis.Count("samples of requests' own CPU", did.samples)); s.total > 0 || len(own) == 0 {
		ev = append(paused, ev...)
	} else {
		ev = append(ev, paused...)
	}
	total := s.total + diagnosis.Total(own)
	res := diagnosis.Result{Evidence: ev, Hidden: blank(c), Lead: none(c)}
	if unseen := unseenPauses(c); diagnosis.Total(unseen) > diagnosis.Total(res.Hidden) {
		res.Hidden, res.Hides = append(res.Hidden, unseen...), "passed while dwell did not record whether all goroutines were stopped"
	}
	if did.samples < enoughSamples && assisted(c) {
		res.Undecided = notSampled(c)
	}
	if total == 0 {
		return res
	}
	_, share := perMean(c, total)
	res.Lead = "the garbage collector takes " + diagnosis.Percent(share) + " of all request time"
	words := pausedWords(pauses, s.total+diagnosis.Total(stops), diagnosis.Total(queued), total)
	from, fix := did.advice(c)
	if 2*diagnosis.Total(unread) >= total {
		words, from = ", on the threads that are to read them", ""
	}
	res.Candidates = []diagnosis.Candidate{{
		Place: "the garbage collector",
		Title: "The garbage collector stops requests: " + meanWords(c, spansOf(s.stays), own) + words + from,
		Fix:   fix,
		Next:  "the runtime's own log shows what it collects: -Xlog:gc*, GODEBUG=gctrace=1, node --trace-gc",
		Spans: append(s.spans(c), own...), Evidence: ev,
		AtLeast: len(did.spans) > 0, // a sample stands for a period of its clock, of which what the strand ran counts
	}}
	return res
}

// advice says where collections come from, and what to do about them. If the code asks for them itself, it should not.
func (k *collected) advice(c *diagnosis.Case) (from, fix string) {
	if line := askedIn(c); line != "" {
		return "; the code itself asks for most of it (System.gc), in " + line, "do not ask for it; if memory outside of the heap has run out (ByteBuffer.allocateDirect), keep " +
			"buffers and use them again, or raise -XX:MaxDirectMemorySize; otherwise -XX:+ExplicitGCInvokesConcurrent or -XX:+DisableExplicitGC"
	}
	if line := k.called(); line != "" {
		return ", nearly always called in " + line, gcFix(servingRuntime(c), line)
	}
	return "", gcFix(servingRuntime(c), "")
}

// notSampled says that samples are too few to show the collector's part of own CPU; "" if all of that is too little.
func notSampled(c *diagnosis.Case) string {
	mean, share := perMean(c, diagnosis.Total(ownSpans(c)))
	if mean < c.Resolution || share < c.Open {
		return ""
	}
	return "a request computes for " + diagnosis.Human(mean) + " on average, and too few samples show which part of that is the collector's"
}

// pausedWords says how the collector stops requests, by what is most of the total: pauses (they wait for stopped),
// waits for processors that the collector's own threads have (queued), or work on the threads that serve them.
func pausedWords(pauses []Duration, stopped, queued, total Duration) string {
	switch {
	case 2*queued >= total:
		return ", mostly because the collector's own threads use the processors"
	case len(pauses) == 0 || 2*stopped < total:
		return ", on the threads that serve them"
	}
	return ", in " + diagnosis.Plural(len(pauses), "pause") + " of up to " + diagnosis.Human(pauses[len(pauses)-1])
}

// askedIn is where a JVM's code asks for collections, if those are most of the time that processes are stopped; else
// "". The thread that asks is stopped as well.
func askedIn(c *diagnosis.Case) string {
	in := stacksIn(c, func(of recording.FrameType) []string {
		if of == recording.FrameJVM {
			return []string{"Runtime.gc"}
		}
		return nil
	})
	if !slices.Contains(in, true) {
		return ""
	}
	asking, lines := map[recording.ProcessID][]window{}, tally{}
	for i := range c.Waits {
		w := &c.Waits[i]
		if w.Cause != timeline.CauseGC || w.Stack == timeline.None || !in[w.Stack] {
			continue
		}
		p := c.Strands[w.Strand].Process
		asking[p] = append(asking[p], window{w.From, w.To})
		if f, ok := c.SiteOf(w.Stack); ok {
			lines[symbol.Place(f)] += w.To.Sub(w.From)
		}
	}
	var all, asked Duration
	for _, s := range stopsOf(c) {
		all += s.to.Sub(s.from)
		if slices.ContainsFunc(asking[s.process], func(w window) bool { return w.from < s.to && w.to > s.from }) {
			asked += s.to.Sub(s.from)
		}
	}
	if line, _ := lines.most(); 2*asked >= all {
		return line
	}
	return ""
}

// pausesOf returns the lengths of the stops of whole processes, in order of length.
func pausesOf(c *diagnosis.Case) (out []Duration) {
	for _, s := range stopsOf(c) {
		out = append(out, s.to.Sub(s.from))
	}
	slices.Sort(out)
	return out
}

// stop is a time in which a collector stops a whole process.
type stop struct {
	process recording.ProcessID
	window
}

// stopsOf returns the stops of processes, of each process in order of time.
func stopsOf(c *diagnosis.Case) (out []stop) {
	var stops []stop
	for i := range c.Waits {
		if w := &c.Waits[i]; w.Cause == timeline.CauseGC {
			stops = append(stops, stop{c.Strands[w.Strand].Process, window{w.From, w.To}})
		}
	}
	for _, p := range c.Pauses {
		stops = append(stops, stop{p.Process, window{p.From, p.To}})
	}
	slices.SortFunc(stops, func(a, b stop) int { return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.from, b.from)) })
	for _, s := range stops {
		if n := len(out); n > 0 && out[n-1].process == s.process && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// collectors returns, by type of frame, prefixes of functions in which a runtime collects on the thread that allocates.
func collectors(of recording.FrameType) []string {
	switch of {
	case recording.FrameGo:
		return []string{"runtime.gcAssist", "runtime.gcStart", "runtime.gcMarkDone", "runtime.gcMarkTermination", "runtime.(*sweepLocked).sweep", "runtime.gcmarknewobject"}
	case recording.FrameNative:
		return []string{
			"v8::internal::Heap::CollectGarbage", "v8::internal::Heap::PerformGarbageCollection", "v8::internal::Heap::Scavenge", "v8::internal::MarkCompactCollector",
			"v8::internal::IncrementalMarking", "gc_collect", "_PyGC_Collect", "PyGC_Collect", "gc_start", "gc_marks", "gc_sweep", "garbage_collect",
		}
	case recording.FrameRuby: // frames that stand for the work of its collector
		return []string{"(garbage collection)", "(marking)", "(sweeping)", "(compacting)"}
	}
	return nil
}

// ofCollectors reports for each stack whether it is the collector's.
func ofCollectors(c *diagnosis.Case) []bool { return stacksIn(c, collectors) }

// stacksIn reports for each stack whether it is in or beneath functions whose names begin so.
func stacksIn(c *diagnosis.Case, names func(recording.FrameType) []string) []bool {
	in := make([]bool, len(c.Stacks))
	for i := range c.Stacks {
		s := &c.Stacks[i]
		f := &c.Frames[s.Frame]
		in[i] = s.Caller >= 0 && in[s.Caller] ||
			slices.ContainsFunc(names(f.Type), func(p string) bool { return strings.HasPrefix(symbol.Name(*f), p) })
	}
	return in
}

// collectorWorkers returns, by type of frame, prefixes of functions in which a runtime collects on its own threads.
func collectorWorkers(of recording.FrameType) []string {
	if of == recording.FrameGo {
		return []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}
	}
	return nil
}

// behindCollecting returns what requests wait for a processor while the collector's own threads have them: the
// collector's share of what was sampled of their process then.
func behindCollecting(c *diagnosis.Case) []diagnosis.Span {
	in := stacksIn(c, collectorWorkers)
	if !slices.Contains(in, true) {
		return nil
	}
	return queuedBehind(c, func(s timeline.StackID) bool { return s >= 0 && in[s] })
}

// behindCollectors returns what requests wait for event loops that collect meanwhile: in stretches that hold a loop for
// long, around the samples that show it.
func behindCollectors(c *diagnosis.Case) (out []diagnosis.Span) {
	in, sampled := ofCollectors(c), newSamples(c)
	for _, loop := range c.Loops() {
		var work []hold
		long, _ := holds(c, loop)
		for _, h := range long {
			sampled.in(loop, diagnosis.Span{From: h.from, To: h.to}, func(piece diagnosis.Span, stack timeline.StackID) {
				if in[stack] {
					work = append(work, hold{from: piece.From, to: piece.To, by: timeline.None})
				}
			})
		}
		out = append(out, waitsBehind(c, loop, work)...)
	}
	return out
}

// behindInterpretersCollecting returns what requests wait for interpreters whose holders collect. Of the waits behind
// holders that compute, it is the collector's share of what was sampled of those.
func behindInterpretersCollecting(c *diagnosis.Case) (out []diagnosis.Span) {
	in := ofCollectors(c)
	if !slices.Contains(in, true) {
		return nil
	}
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		var sampled, collects Duration
		samples := 0
		for _, d := range k.done(deedCPU) {
			if d.stack == timeline.None || d.later {
				continue
			}
			samples++
			if sampled += d.to.Sub(d.from); in[d.stack] {
				collects += d.to.Sub(d.from)
			}
		}
		if samples >= fewSamples {
			out = append(out, leadingShare(spansOf(k.of(deedCPU)), diagnosis.ShareOf(int64(collects), int64(sampled)))...)
		}
	}
	return out
}

// collected is what samples show of the collector's work on requests' own CPU.
type collected struct {
	spans   []diagnosis.Span // merged; shared
	samples int              // samples of all own CPU
	lines   tally            // by the line in the service's code that calls it, as far as that is known
	known   Duration         // the time of all these samples, with such a line or without
}

func collecting(c *diagnosis.Case) *collected {
	return c.Once("collecting", func() any {
		of := &collected{lines: tally{}}
		in := ofCollectors(c)
		newSamples(c).eachRun(c.Measured(), func(span diagnosis.Span, stack timeline.StackID, first bool) {
			if first {
				of.samples++
			}
			if !in[stack] {
				return
			}
			of.spans = append(of.spans, span)
			if f, ok := c.SiteOf(stack); ok && symbol.Application(f) {
				of.lines[symbol.Place(f)] += span.To.Sub(span.From)
			}
			of.known += span.To.Sub(span.From)
		})
		of.spans = slices.Clip(c.Merged(of.spans))
		return of
	}).(*collected)
}

// called is the line that calls nearly all of it, as when code asks for it or makes very much; else "": it comes
// anywhere.
func (k *collected) called() string {
	if line, _ := k.lines.most(); line != "" && 10*k.lines[line] >= 9*k.known {
		return line
	}
	return ""
}

// assisted reports whether requests are served in a runtime whose collector runs on threads that allocate.
func assisted(c *diagnosis.Case) bool {
	switch servingRuntime(c) {
	case recording.RuntimeGo, recording.RuntimeNode, recording.RuntimePython, recording.RuntimeRuby:
		return true
	}
	return false
}

// gcFix says how to make the collector work less, in a runtime's own words; at: where nearly all of that is, or "".
func gcFix(rt recording.Runtime, at string) string {
	if at != "" {
		at = " in " + at + " (see whether one result can serve many requests)"
	}
	switch rt {
	case recording.RuntimeJVM:
		return "allocate less" + at + ", or collect concurrently: -XX:+UseZGC (JDK 17 and later) or Shenandoah; or use a larger young generation, or a lower -XX:MaxGCPauseMillis with G1"
	case recording.RuntimeGo:
		return "allocate less" + at + " (go tool pprof -alloc_space), or collect less often: a higher GOGC with GOMEMLIMIT"
	case recording.RuntimeNode:
		return "allocate less" + at + ", or collect less often: node --max-semi-space-size=64"
	case recording.RuntimeRuby:
		return "do not call GC.start in requests; allocate less" + at + ", or collect less often: a higher RUBY_GC_HEAP_OLDOBJECT_LIMIT_FACTOR; GC.compact and Process.warmup (Ruby 3.3) once after start"
	case recording.RuntimePython:
		return "do not call gc.collect in requests; allocate fewer containers" + at + ", or collect less often: gc.freeze() after start, a higher gc.set_threshold"
	}
	return "allocate less" + at + ", or give the heap more room"
}

// behindReadersCollecting returns what requests wait to be read while the threads that then read them collect, as some
// are told to after an answer. Of the time in which those run, or wait for a processor to, it is the collector's share
// of what was sampled of them meanwhile.
func behindReadersCollecting(c *diagnosis.Case) (spans []diagnosis.Span) {
	in := ofCollectors(c)
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if !r.HasPhase(timeline.PhaseUnread) || r.Strand == timeline.None || c.Strands[r.Strand].Loop {
			continue
		}
		all, collects := 0, 0
		for _, a := range c.StacksIn(r.Strand, r.Start, r.FirstRead) {
			if a.Origin == recording.StackOnCPU {
				if all++; a.Stack != timeline.None && in[a.Stack] {
					collects++
				}
			}
		}
		if collects == 0 {
			continue
		}
		var waits []diagnosis.Span
		for s := r.Segments(); s.Next() && s.Phase == timeline.PhaseUnread; {
			if s.Strand == r.Strand && (s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CauseRunnable) {
				waits = append(waits, diagnosis.Span{Request: id, From: s.From, To: s.To})
			}
		}
		spans = append(spans, leadingShare(waits, diagnosis.ShareOf(int64(collects), int64(all)))...)
	}
	return spans
}
