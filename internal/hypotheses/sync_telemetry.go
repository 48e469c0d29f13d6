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

func syncTelemetry() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "sync-telemetry",
		Title: "Requests send metrics, logs or traces themselves",
		Doc: "A thread of its own could do that beside the requests.\n\n" +
			"Support: what the threads of requests do to get metrics, logs and traces out:\n\n" +
			"- They send datagrams to StatsD or syslog. How long a send computes is not recorded. It is at most the time since the thread's last event, and the lower quartile of those times is taken.\n" +
			"- They wait for the lock around that (one taken right before a send, or whose holder sends).\n" +
			"- They wait for the interpreter's lock right after a send (each send gives it up), or at the same place in the code.\n" +
			"- They call collectors, and write log files.\n" +
			"- They wait for anything beneath the functions of a logging library that hand a record to its outputs (Python's logging, loguru, Logback, Log4j 2, Ruby's Logger).\n\n" +
			"Not this: sends by threads that serve no request. They are counted, and cost no request anything.\n\n" +
			"Saving: all of that is taken out of each request. So is what it waits less, by replay, for an interpreter that no longer computes beneath the functions that send. What other work of the machine is spared is not predicted.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"lock-convoy", "refresh-under-lock", "interpreter-lock", "pool-exhausted", "n-plus-one", "slow-peer", "disk", "run-queue", "cpu-bound", "accept-queue", "load"},
		Test:     testSyncTelemetry,
	}
}

// exported is what measured requests spent on getting telemetry out.
type exported struct {
	stays  []stay
	by     [sendKinds]Duration
	unsure []diagnosis.Span // waits right before a send, for something unknown
	sends  int              // datagrams sent in the time of requests
	peers  map[string]int
	sites  tally
	sited  Duration // the sum of these
	lines  tally    // the same with their lines
	logged Duration // of by: what gets logs out other than by waiting for a file
}

func testSyncTelemetry(c *diagnosis.Case) diagnosis.Result {
	t := telemetryOf(c)
	e := exported{peers: map[string]int{}, sites: tally{}, lines: tally{}}
	if t.any() {
		for _, id := range c.Measured() {
			e.request(t, &c.Requests[id])
		}
	}
	total := diagnosis.Total(spansOf(e.stays))
	ev := e.evidence(t, total)
	res := diagnosis.Result{Evidence: ev, Lead: e.lead(t, total), Hidden: e.unsure}
	if total > 0 {
		res.Candidates = []diagnosis.Candidate{e.candidate(t, total, ev)}
	}
	return res
}

// request adds what one request spent, without what others did while it waited for a thread.
func (e *exported) request(t *telemetry, r *timeline.Request) {
	for s := r.Segments(); s.Next(); {
		if s.Strand == timeline.None || s.Blocker != timeline.None || s.Phase == timeline.PhaseUnread {
			continue
		}
		if s.Cause == timeline.CausePool {
			e.forRoom(t, stay{diagnosis.Span{Request: r.ID, From: s.From, To: s.To}, s.Strand, timeline.None})
			continue
		}
		if s.Call != timeline.None && t.isCall(s.Call) {
			e.add(t, stay{diagnosis.Span{Request: r.ID, From: s.From, To: s.To}, s.Strand, timeline.None}, sendCall)
			if t.logged[s.Call] {
				e.logged += s.To.Sub(s.From)
			}
			e.peers[t.c.Calls[s.Call].Peer]++
			continue
		}
		for _, w := range t.within(s.Strand, s.From, s.To) {
			e.add(t, stay{diagnosis.Span{Request: r.ID, From: max(w.from, s.From), To: min(w.to, s.To)}, s.Strand, w.wait}, w.kind)
		}
		for _, d := range t.sent(s.Strand, s.From, s.To) {
			e.sends++
			e.peers[t.c.Datagrams[d].Peer]++
		}
	}
}

// forRoom adds what a request waited until there was room in the queue of an asynchronous log.
func (e *exported) forRoom(t *telemetry, s stay) {
	if t.logging == nil {
		return
	}
	if s.wait = putWait(t.c, &s); s.wait != timeline.None && t.logs(t.c.Waits[s.wait].Stack) {
		e.add(t, s, sendAsleep)
	}
}

func (e *exported) add(t *telemetry, s stay, kind sendKind) {
	if kind == sendUnsure {
		e.unsure = append(e.unsure, s.Span)
		return
	}
	e.stays = append(e.stays, s)
	e.by[kind] += s.To.Sub(s.From)
	stack := stackOf(t.c, &s)
	if kind == sendCall || s.wait != timeline.None {
		e.sites[site(t.c, stack)] += s.To.Sub(s.From)
		e.sited += s.To.Sub(s.From)
		if f, ok := t.c.SiteOf(stack); ok {
			e.lines[symbol.Place(f)] += s.To.Sub(s.From)
		}
	}
	if s.wait != timeline.None && kind != sendFile && t.logs(stack) {
		e.logged += s.To.Sub(s.From)
	}
}

func (e *exported) evidence(t *telemetry, total Duration) []diagnosis.Evidence {
	n := int64(max(1, len(t.c.Overall.Requests)))
	_, share := perMean(t.c, total)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent sending metrics, logs or traces", share),
		whose(t.c, spansOf(e.stays)).inRequest("mean per request", "", total),
	}
	if t.total > 0 || total == 0 {
		ev = append(ev, diagnosis.Evidence{What: "datagrams sent per request", Value: int64(e.sends) * 1000 / n, Unit: diagnosis.UnitRatio},
			diagnosis.Part("of the datagrams are sent by threads that serve no request", diagnosis.ShareOf(int64(t.background()), int64(t.total))))
	}
	for kind := sendCPU; kind < sendUnsure; kind++ {
		if d := e.by[kind]; d > 0 || kind <= sendInterpreter && (t.total > 0 || total == 0) {
			ev = append(ev, diagnosis.NS("mean per request: "+kind.String(), d/Duration(n)))
		}
	}
	if held, share := t.holderSent(); held > 0 && e.by[sendLock] > 0 {
		ev = append(ev, diagnosis.Part("of the waits for that lock with a known holder, the holder was sending", share))
	}
	return ev
}

func (e *exported) lead(t *telemetry, total Duration) string {
	n := len(t.c.Overall.Requests)
	mean, share := perMean(t.c, total)
	switch {
	case total == 0 && t.total == 0:
		return "no datagram to a telemetry daemon, no call to a collector and no wait for a log file in " + diagnosis.Plural(n, "request")
	case total == 0:
		return "none of the " + diagnosis.Plural(t.total, "datagram") + " of metrics or logs was sent by a thread that served one of " + diagnosis.Plural(n, "request")
	}
	background := ""
	if b := t.background(); b > 0 {
		background = "; " + diagnosis.Percent(diagnosis.ShareOf(int64(b), int64(t.total))) + " of the datagrams are sent by threads that serve no request"
	}
	return "sending metrics, logs or traces takes a request " + diagnosis.Human(mean) + " (" + diagnosis.Percent(share) + " of all request time)" + background
}

func (e *exported) candidate(t *telemetry, total Duration, ev []diagnosis.Evidence) diagnosis.Candidate {
	peer, most := "a log", 0
	if 2*e.by[sendFile] > total {
		peer = "a log file"
	}
	for p, n := range e.peers {
		if n > most || n == most && p < peer {
			peer, most = p, n
		}
	}
	at, _ := e.sites.most()
	place, from := peer, ""
	if known := diagnosis.ShareOf(int64(e.sited), int64(total)); at != "" && known >= diagnosis.Whole/20 { // else the place is unknown for nearly all of it
		line, _ := e.lines.most()
		place, from = at+" to "+peer, ", mostly in "+cmp.Or(line, at)
		if known < diagnosis.Whole/10 {
			from += " (the place is known for " + diagnosis.Percent(known) + " of it)"
		}
	}
	what := "Requests send metrics, logs or traces themselves"
	if e.logs(total) {
		what = "Requests send logs themselves"
	}
	if n := max(1, len(t.c.Overall.Requests)); e.sends >= n {
		what = "Requests send " + diagnosis.Plural((e.sends+n/2)/n, "datagram") + " of metrics or logs each, on average, themselves"
	} else if e.sends > 0 {
		what = "Requests send datagrams of metrics or logs themselves"
	}
	gone := e.gone(t)
	return diagnosis.Candidate{
		Place:    place,
		Title:    what + ", to " + peer + ": " + meanWords(t.c, spansOf(e.stays)) + from + e.parts(t) + queuedFor(t.c, gone[len(e.stays):]),
		Fix:      e.fix(t, total),
		Next:     "dwell show REC --under NAME shows the time under the client's send, by cause",
		Spans:    append(spansOf(gone), behindStrands(t.c, gone, e.stays)...),
		AtLeast:  true, // what is computed to make what is sent cannot be told from other work
		Evidence: ev,
	}
}

// gone returns what requests do not spend without it: what they spend on it themselves, and what they wait less for an
// interpreter that does not compute beneath the functions that send.
func (e *exported) gone(t *telemetry) []stay {
	sends := map[string]bool{}
	for name, d := range e.sites {
		sends[name] = name != "" && d >= e.sited/20
	}
	out, own := slices.Clone(e.stays), map[diagnosis.RequestID][]window{}
	for _, s := range e.stays {
		own[s.Request] = append(own[s.Request], window{s.From, s.To})
	}
	for _, s := range behindInterpreters(t.c, sends) {
		for w := range outside(own[s.Request], window{s.From, s.To}) {
			out = append(out, stay{diagnosis.Span{Request: s.Request, From: w.from, To: w.to}, s.strand, s.wait})
		}
	}
	return out
}

// queuedFor says how much less requests wait for an interpreter, if that is much.
func queuedFor(c *diagnosis.Case, less []stay) string {
	mean, share := perMean(c, diagnosis.Total(spansOf(less)))
	if share < c.Open {
		return ""
	}
	return "; without them a request would wait " + diagnosis.Human(mean) + " less for the interpreter's lock"
}

// parts says what the time is made of, if that is more than the sends themselves.
func (e *exported) parts(t *telemetry) string {
	n := Duration(max(1, len(t.c.Overall.Requests)))
	var said []string
	for _, kind := range []sendKind{sendLock, sendInterpreter} {
		if d := e.by[kind] / n; 10*e.by[kind] >= diagnosis.Total(spansOf(e.stays)) {
			said = append(said, diagnosis.Human(d)+" of it "+kind.purpose())
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "; " + strings.Join(said, ", ")
}

// runtime returns the runtime of the process whose requests wait.
func (t *telemetry) runtime(e *exported) recording.Runtime {
	if len(e.stays) == 0 {
		return recording.RuntimeNative
	}
	return runtimeOf(t.c, t.c.Strands[e.stays[0].strand].Process)
}

// logs reports whether most of the time gets logs out.
func (e *exported) logs(total Duration) bool { return 2*(e.by[sendFile]+e.logged) > total }

// fix says what to do about what most of the time goes to: log files, collectors or datagrams.
func (e *exported) fix(t *telemetry, total Duration) string {
	rt := t.runtime(e)
	if 2*e.by[sendCall] > total {
		return collectorFix(rt)
	}
	if !e.logs(total) {
		return telemetryFix(rt)
	}
	general := "let one separate thread write the log, many lines per write"
	if 2*e.by[sendFile] > total {
		general += ", and sync the log seldom or not at all"
	}
	switch rt {
	case recording.RuntimePython:
		return general + ": logging.handlers.QueueHandler and QueueListener"
	case recording.RuntimeJVM:
		return general + ": an asynchronous appender (Logback AsyncAppender, Log4j 2 AsyncLogger)"
	case recording.RuntimeNode:
		return general + ": a logger that writes asynchronously (pino.destination({ sync: false }))"
	case recording.RuntimeGo:
		return general + ": a buffered writer that one goroutine flushes"
	}
	return general
}

// collectorFix says how to send what collectors get beside the requests.
func collectorFix(rt recording.Runtime) string {
	const general = "do not wait for the collector: put the data into a bounded queue, and send it in batches outside of the requests; "
	switch rt {
	case recording.RuntimeNode:
		return general + "pino: a transport, which has its own thread (pino.transport); winston: a transport that batches; OpenTelemetry: BatchSpanProcessor, BatchLogRecordProcessor"
	case recording.RuntimePython:
		return general + "logging: a QueueHandler with a QueueListener; OpenTelemetry: BatchSpanProcessor, BatchLogRecordProcessor; sentry_sdk already sends this way"
	case recording.RuntimeJVM:
		return general + "Logback, Log4j 2: an asynchronous appender around the one that sends; OpenTelemetry: BatchSpanProcessor, BatchLogRecordProcessor"
	case recording.RuntimeRuby:
		return general + "semantic_logger has its own thread; OpenTelemetry: BatchSpanProcessor"
	case recording.RuntimeGo:
		return general + "a goroutine that takes them from a channel; OpenTelemetry: NewBatchSpanProcessor, NewBatchProcessor"
	}
	return general + "for traces and logs a batching processor"
}

func telemetryFix(rt recording.Runtime) string {
	const general = "collect metrics in memory and let one separate thread send them, many per datagram, over the agent's Unix socket; "
	switch rt {
	case recording.RuntimeRuby:
		return general + "statsd-instrument: STATSD_ENV=production with a buffer (STATSD_BUFFER_CAPACITY); dogstatsd-ruby 5: its sender thread and socket_path"
	case recording.RuntimePython:
		return general + "datadog: DogStatsd(disable_buffering=False, disable_background_sender=False, socket_path=...); logging: a QueueHandler; OpenTelemetry: a BatchSpanProcessor"
	case recording.RuntimeJVM:
		return general + "java-dogstatsd-client: NonBlockingStatsDClientBuilder; Logback, Log4j 2: an asynchronous appender; OpenTelemetry: a BatchSpanProcessor"
	case recording.RuntimeGo:
		return general + "datadog-go: statsd.New with a unix:// address and client-side aggregation; OpenTelemetry: a batching span processor"
	case recording.RuntimeNode:
		return general + "hot-shots: maxBufferSize, protocol 'uds'; OpenTelemetry: a BatchSpanProcessor"
	}
	return general + "for traces a batching processor, for logs an asynchronous appender"
}
