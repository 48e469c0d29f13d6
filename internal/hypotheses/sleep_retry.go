package hypotheses

import (
	"cmp"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func sleepRetry() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "sleep-retry",
		Title: "Requests sleep (back-off, polling, or a fixed pause)",
		Doc: "A timer decides when they go on.\n\n" +
			"Support: the time in which a strand that a request depends on slept until a timer woke it, and waited for nothing else. Four kinds of waits for others count too:\n\n" +
			"- for a thread that lets more work come together until a timer ends that;\n" +
			"- for a goroutine that a timer starts (time.AfterFunc), until the timer starts it;\n" +
			"- for another request that sleeps, if the answer to its call then lets this one go on;\n" +
			"- for another thread with a time limit, if no thread ends that wait, nor those after it at the same place.\n\n" +
			"It is a back-off if the request's last call before it failed (status 429 or from 500, cut, or never connected). The place in code is known if stacks are recorded.\n\n" +
			"Saving: that time is taken out of each request, except while a call is under way that ends before the sleep does. Such a call is the request's own, or it belongs to no known request and was made by a strand that the request had " +
			"let go on. The request may look now and then whether that call has its answer. If nothing else shows what the request sleeps for, what helpers would still do for it stays too. Helpers are threads and processes that serve no " +
			"request and are woken by those that do. Each request that sleeps gets as much work as they did in the mean, one after the other. This counts only if, three times in four, they are at work as a request begins to sleep, and the " +
			"replay of that work is over before the request is. The range of the saving reaches to where that time goes as well.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Test:     testSleepRetry,
	}
}

func testSleepRetry(c *diagnosis.Case) diagnosis.Result {
	s := spentIn(c, timeline.CauseSleep, append(stays(c, timeline.CauseSleep, whole), joinedSleeps(c)...))
	after, failing := s.afterFailures(c)
	retries := diagnosis.ShareOf(int64(after), int64(s.total))
	ev := append(s.evidence(c, "sleeping until a timer"), diagnosis.Part("of it after a call that failed", retries))
	res := diagnosis.Result{Evidence: ev, Hidden: c.Gaps(), Lead: s.lead(c, "sleeping until a timer")}
	if s.total == 0 {
		return res
	}
	why, fix := "", "instead of polling, wait for a notification, a condition or a long poll; or take the pause out of the request"
	if retries >= diagnosis.Whole/2 {
		peer, _ := failing.most()
		why = ", after calls to " + peer + " that failed"
		fix = "find out why the calls to " + peer + " fail (dwell show has their status, or why they were not connected); make the first retry without a pause, later ones with jitter, within the request's deadline"
	}
	if peer, waiting := s.unanswered(c); waiting > 0 {
		share := diagnosis.ShareOf(int64(waiting), int64(s.total))
		ev = append(ev, diagnosis.Part("of it while a call of the request has no answer", share))
		if share >= diagnosis.Whole/2 {
			why = ", while their calls to " + peer + " have no answer"
			fix = "if the timer is a time-out: find out why " + peer + " does not answer in time, and cancel calls that are given up (an AbortSignal, a destroyed socket), because they keep a connection busy; otherwise take the pause out of the request"
		}
	}
	if s.lapsed(c) {
		why = cmp.Or(why, ", in waits for another thread that all end by time-out")
		fix = "have the other thread wake them when its work is done (a notification under the same lock, an event, a future): if the wake-up comes too early, or never, they wait for their time-out; " +
			"if the work is not done in time, find out why"
	}
	if s.lingering(c) {
		why = ", because the thread that does their work waits for more work to batch"
		fix = "have that thread start at once with the work that it has: what arrives meanwhile forms the next batch; or have it wait for less time (a shorter linger)"
	}
	if s.started(c) {
		why = ", until a timer starts the goroutine that lets them go on"
		fix = "if the timer (time.AfterFunc) collects a batch: start it at once, or after less time; if it is a time-out: find out what does not come in time"
	}
	if known := knownSleep(c, &s); known != nil {
		why, fix = cmp.Or(known.why, why), known.fix
	}
	gone, seen, beside, ev := s.gone(c, ev, why != "")
	res.Candidates = []diagnosis.Candidate{{
		Place:    s.place(c),
		Title:    "Requests sleep until a timer: " + meanWords(c, spansOf(s.stays)) + cmp.Or(why+cmp.Or(s.from(), s.goesOn(c)), s.between(c)) + beside,
		Fix:      fix,
		Next:     "dwell show REC --slowest 3 shows what comes before and after a sleep",
		Spans:    gone,
		Seen:     seen,
		May:      seen,
		Evidence: ev,
	}}
	return res
}

// afterFailures returns how much of it is after a call that failed, and the peers of those calls.
func (s *spent) afterFailures(c *diagnosis.Case) (after Duration, failing tally) {
	failing = tally{}
	for i := range s.stays {
		if peer, ok := failedBefore(c, &s.stays[i]); ok {
			d := s.stays[i].To.Sub(s.stays[i].From)
			after += d
			failing[peer] += d
		}
	}
	return after, failing
}

// failedBefore returns the peer of the last call that had ended when a request went to sleep, if that call failed.
func failedBefore(c *diagnosis.Case, s *stay) (peer string, ok bool) {
	var last *timeline.Call
	for _, id := range c.Requests[s.Request].Calls {
		if k := &c.Calls[id]; k.End <= s.From && (last == nil || k.End > last.End) {
			last = k
		}
	}
	if last == nil || !refused(last) && !last.Cut {
		return "", false
	}
	return last.Peer, true
}

// goesOn says where the goroutines that others wait for mostly go on after it; "" if that is not known. A select has no
// stack, but what lets another goroutine go on has one.
func (s *spent) goesOn(c *diagnosis.Case) string {
	lines := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		if w.strand == timeline.None || w.strand == c.Requests[w.Request].Strand {
			continue
		}
		for _, a := range c.Doing(w.strand, w.From, w.To) {
			if f, ok := c.SiteOf(a.Stack); ok && a.Later {
				lines[symbol.Place(f)] += a.To.Sub(a.From)
			}
		}
	}
	if line, _ := lines.most(); 2*lines[line] >= s.total && line != "" {
		return ", in a goroutine that then continues in " + line
	}
	return ""
}

// between says after which of their own calls requests mostly sleep, if they sleep themselves, and whether they then
// make the call again; "" if that is not known for half of the time.
func (s *spent) between(c *diagnosis.Case) string {
	after := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		var last, next *timeline.Call
		for _, id := range c.Requests[w.Request].Calls {
			if k := &c.Calls[id]; k.End <= w.From && (last == nil || k.End > last.End) {
				last = k
			} else if k.Start >= w.To && (next == nil || k.Start < next.Start) {
				next = k
			}
		}
		switch {
		case last == nil || last.Operation == "" || w.strand != c.Requests[w.Request].Strand:
			continue
		case next != nil && next.Peer == last.Peer && next.Operation == last.Operation:
			after[", each time between "+last.Operation+" to "+last.Peer+" and a repeat of that call"] += w.To.Sub(w.From)
		default:
			after[", after "+last.Operation+" to "+last.Peer] += w.To.Sub(w.From)
		}
	}
	if what, _ := after.most(); 2*after[what] >= s.total {
		return what
	}
	return ""
}

// started reports whether at least half of it was before a timer started the goroutine that ended the wait.
func (s *spent) started(c *diagnosis.Case) bool {
	var of Duration
	for i := range s.stays {
		w := &s.stays[i]
		by, wait := w.strand, w.wait
		if wait == timeline.None && by != timeline.None {
			wait = c.WaitAt(by, w.From) // it waits for the goroutine, not for the timer
		}
		if wait != timeline.None {
			by = c.ParkedBy(wait)
		}
		if began, ok := c.Goroutines.Timed[by]; ok && w.To <= began {
			of += w.To.Sub(w.From)
		}
	}
	return 2*of >= s.total
}

// lingering reports whether most of it is the sleep of another strand that requests wait for, and that could have been
// woken.
func (s *spent) lingering(c *diagnosis.Case) bool {
	return s.forThreads(c, func(w *stay) bool { return w.strand != c.Requests[w.Request].Strand && !c.Strands[w.strand].Loop })
}

// lapsed reports whether, for most of it, requests waited for another thread until their time limit was over.
func (s *spent) lapsed(c *diagnosis.Case) bool {
	return s.forThreads(c, func(w *stay) bool { return w.strand == c.Requests[w.Request].Strand })
}

// forThreads reports whether strands that meant accepts slept for most of it in waits for other threads.
func (s *spent) forThreads(c *diagnosis.Case, meant func(*stay) bool) bool {
	var of Duration
	for i := range s.stays {
		w := &s.stays[i]
		if w.strand == timeline.None || !meant(w) {
			continue
		}
		if id := c.WaitAt(w.strand, w.From); id != timeline.None && c.Waits[id].Cause == timeline.CauseCondition {
			of += w.To.Sub(w.From)
		}
	}
	return 2*of >= s.total
}

// unanswered returns how much of the time asleep passed while a call of the request had been sent and had no answer
// until after the sleep, and the peer of most of those calls.
func (s *spent) unanswered(c *diagnosis.Case) (peer string, took Duration) {
	of := map[diagnosis.RequestID][]*timeline.Call{}
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Request != timeline.None && k.Sent != recording.NoTime {
			of[k.Request] = append(of[k.Request], k)
		}
	}
	peers := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		for _, k := range of[w.Request] {
			if from := max(w.From, k.Sent); from < w.To && k.End > w.To && (k.Arrived == recording.NoTime || k.Arrived > w.To) {
				took += w.To.Sub(from)
				peers[k.Peer] += w.To.Sub(from)
				break
			}
		}
	}
	peer, _ = peers.most()
	return peer, took
}

// refused reports whether a peer would not or could not serve a call, or was not reached for it.
func refused(call *timeline.Call) bool {
	return call.Failed() || call.Status == tooMany || call.Status >= serverError
}

const (
	tooMany     = 429
	serverError = 500
)

// sleepKind is a function that is known to sleep for one reason, and what to do about it.
type sleepKind struct {
	function string // the end of its name; "" any
	word     string // in its name, whatever the case; "" any
	module   string // for machine code: the beginning of its module's name; nothing but machine code lies between it and the sleep
	why, fix string
}

func sleepKinds() []sleepKind {
	const busy = ", because another connection has the SQLite database locked"
	const unlock = "keep write transactions short: nothing slow (calls, computing, sleeping) between the first write and COMMIT; let one thread write for all; " +
		"PRAGMA journal_mode=WAL lets readers go on meanwhile"
	return []sleepKind{
		{word: "limiter", why: ", because a rate limiter makes them wait", fix: "raise the limiter's limit and burst to what the service behind it can bear, or reject what exceeds it (such as Limiter.Allow, tryAcquire)"},
		{function: ".isStale", fix: "before each use of a kept connection the client waits for a millisecond to see whether it is stale: have it check only after a pause " +
			"(Apache HttpClient setValidateAfterInactivity, AWS ClientConfiguration.setValidateAfterInactivityMillis)"},
		{function: "sqlite3InvokeBusyHandler", why: busy, fix: unlock},
		{word: "sqlite3_step", why: busy, fix: unlock}, // it sleeps somewhere beneath that; Go's stacks end where C's begin
		{module: "libsqlite3", why: busy, fix: unlock},
		{module: "_sqlite3.", why: busy, fix: unlock}, // of Python, with SQLite in it
		{module: "sqlite3_native", why: busy, fix: unlock},
		{module: "better_sqlite3", why: busy, fix: unlock},
	}
}

// is reports whether a frame is such a function; called: code of a language runtime lies between it and the sleep.
func (k *sleepKind) is(name string, f recording.Frame, called bool) bool {
	if k.module != "" {
		return !called && f.Type == recording.FrameNative && strings.HasPrefix(f.Module, k.module)
	}
	if k.word != "" {
		name = strings.ToLower(name)
		return strings.Contains(name, k.word) && !strings.Contains(name, "de"+k.word) // no delimiter
	}
	return strings.HasSuffix(name, k.function)
}

// knownSleep returns the kind of sleep that most of the time asleep is beneath; nil if none is known.
func knownSleep(c *diagnosis.Case, s *spent) *sleepKind {
	under, kinds := tally{}, sleepKinds()
	for i := range s.stays {
		w := &s.stays[i]
		name := ""
		if k := sleepsIn(c, kinds, stackOf(c, w)); k != nil {
			name = k.fix
		}
		under[name] += w.To.Sub(w.From)
	}
	fix, share := under.most()
	if share < diagnosis.Whole/2 {
		return nil
	}
	for i := range kinds {
		if kinds[i].fix == fix {
			return &kinds[i]
		}
	}
	return nil
}

func sleepsIn(c *diagnosis.Case, kinds []sleepKind, id timeline.StackID) *sleepKind {
	called := false
	for _, f := range c.StackFrames(id) {
		name := symbol.Name(f)
		for i := range kinds {
			if kinds[i].is(name, f, called) {
				return &kinds[i]
			}
		}
		called = called || f.Type != recording.FrameNative && f.Type != recording.FrameKernel
	}
	return nil
}
