package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// sendKind sorts what a strand does to get telemetry out.
type sendKind int

const (
	sendCPU         sendKind = iota // it computes in a send
	sendLock                        // it waits for the lock around sends
	sendInterpreter                 // it waits for the interpreter's lock, which a send gives up
	sendAsleep                      // it is off the CPU within a send: the receiver's queue is full, or the receiver took the processor
	sendCall                        // it waits for a collector's answer
	sendFile                        // it waits for a log file
	sendUnsure                      // it waits right before a send, for something unknown
	sendKinds
)

// String says what the time is spent on.
func (k sendKind) String() string {
	return [...]string{"the sends themselves, at most", "waiting for the lock around sends", "waiting for the interpreter's lock after sends, which release it",
		"off the CPU within sends", "calls to collectors", "waiting for log files", ""}[k]
}

// purpose says the same of a wait for a lock, to follow a duration.
func (k sendKind) purpose() string {
	if k == sendLock {
		return "to get the lock around sends"
	}
	return "to get the interpreter's lock back after sends"
}

const (
	// afterSend is how soon after a send a wait begins that the send led to.
	afterSend = 50 * diagnosis.Time(milli) / 1000
	// beforeSend is how soon after a wait for a lock around sends its thread sends.
	beforeSend = 30 * diagnosis.Time(milli) / 1000
	// sendAtMost is the most that is taken for the computing of a send.
	sendAtMost = milli / 10
	// sendsTold is how many sends are needed to tell what one takes.
	sendsTold = 8
)

// sending is a span in which a strand is busy with getting telemetry out.
type sending struct {
	window
	kind sendKind
	wait timeline.WaitID // or None
}

// telemetry is what strands do to get metrics, logs and traces out.
type telemetry struct {
	c       *diagnosis.Case
	calls   map[timeline.CallID]bool
	sends   map[timeline.StrandID][]int     // indexes of datagrams, in order of their ends
	on      map[timeline.StrandID][]sending // in order, disjoint
	total   int                             // datagrams
	typical Duration                        // what a send computes, at most
	locks   map[timeline.LockID]*lockSends
	holders map[timeline.LockID]*heldSums
	sites   map[string]*lockSends // by place in code
	logging []bool                // by stack: whether it gets a log out
	logged  map[timeline.CallID]bool
}

// heldSums is when a lock was held, as far as that is known, and when by a holder that sent something with it.
type heldSums struct{ held, sends busySum }

// lockSends is how much of the time in waits at a lock or place goes with sends.
type lockSends struct {
	all, with   Duration // right before or after a send of the waiting strand, or behind a holder that sends
	held, sends Duration // of waits whose holder is known; of that, while it sends
}

// telemetryOf returns the telemetry of a case; its callers share it.
func telemetryOf(c *diagnosis.Case) *telemetry {
	return c.Shared("telemetry", func() any { return newTelemetry(c) }).(*telemetry)
}

func newTelemetry(c *diagnosis.Case) *telemetry {
	t := &telemetry{c: c, calls: map[timeline.CallID]bool{}, sends: map[timeline.StrandID][]int{},
		on: map[timeline.StrandID][]sending{}, locks: map[timeline.LockID]*lockSends{}, holders: map[timeline.LockID]*heldSums{}, sites: map[string]*lockSends{},
		logging: logStacks(c), logged: map[timeline.CallID]bool{}}
	t.logCalls()
	for i := range c.Calls {
		if class, _ := classOf(c).OfCall(&c.Calls[i]); class == peers.Telemetry {
			t.calls[timeline.CallID(i)] = true
		}
	}
	for i := range c.Datagrams {
		d := &c.Datagrams[i]
		if class, _ := classOf(c).OfDatagram(d); class != peers.Telemetry {
			continue
		}
		t.total++
		if d.Strand != timeline.None {
			t.sends[d.Strand] = append(t.sends[d.Strand], i)
		}
	}
	for s, list := range t.sends {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(c.Datagrams[a].To, c.Datagrams[b].To) })
		t.tally(s)
	}
	t.measure()
	for i := range c.Strands {
		t.collect(timeline.StrandID(i))
	}
	return t
}

// any reports whether anything gets telemetry out at all.
func (t *telemetry) any() bool { return len(t.calls)+len(t.logged)+len(t.sends)+len(t.on) > 0 }

func (t *telemetry) isCall(id timeline.CallID) bool { return t.calls[id] || t.logged[id] }

// last returns when the last event of a strand was before one of its sends ended: it came to a CPU, or it had sent
// before.
func (t *telemetry) last(s timeline.StrandID, k int) diagnosis.Time {
	d := &t.c.Datagrams[t.sends[s][k]]
	from := d.From
	if d.From < d.To {
		return from // it slept in the send
	}
	ivs := t.c.Strands[s].Intervals
	i, _ := slices.BinarySearchFunc(ivs, d.To, func(iv timeline.Interval, at diagnosis.Time) int { return cmp.Compare(iv.To, at) })
	ran := i < len(ivs) && ivs[i].State == timeline.StateRunning
	if ran {
		from = min(ivs[i].From, d.To)
	}
	if k == 0 {
		return from
	}
	if before := t.c.Datagrams[t.sends[s][k-1]].To; !ran || before > from {
		from = before // whether it ran meanwhile is not known
	}
	return from
}

// measure finds what a send computes, at most: the lower quartile of the times since the thread's event before it. Only
// times in which it can have done little else count.
func (t *telemetry) measure() {
	var took []Duration
	for s, list := range t.sends {
		for k := range list {
			d := &t.c.Datagrams[list[k]]
			if since := d.To.Sub(t.last(s, k)); d.From == d.To && since > 0 && since <= sendAtMost {
				took = append(took, since)
			}
		}
	}
	if len(took) >= sendsTold {
		slices.Sort(took)
		t.typical = diagnosis.Quantile(took, 25)
	}
}

// relevant reports whether sends may lead to waits of a cause.
func relevant(cause timeline.Cause) bool {
	return cause == timeline.CauseLock || cause == timeline.CauseInterpreterLock || cause == timeline.CauseCondition
}

// beside reports whether a wait of a strand begins right after one of its sends, and whether it ends right before one.
func (t *telemetry) beside(w *timeline.Wait) (after, before bool) {
	list := t.sends[w.Strand]
	k, _ := slices.BinarySearchFunc(list, w.From, func(d int, at diagnosis.Time) int { return cmp.Compare(t.c.Datagrams[d].To, at+1) })
	after = k > 0 && w.From-t.c.Datagrams[list[k-1]].To <= afterSend
	for ; k < len(list) && t.c.Datagrams[list[k]].To < w.Back; k++ {
	}
	return after, k < len(list) && t.c.Datagrams[list[k]].To-w.Back <= beforeSend
}

// tally adds up, by lock and by place in code, how much of a strand's waits goes with
// sends.
func (t *telemetry) tally(s timeline.StrandID) {
	for _, id := range t.c.Strands[s].Waits {
		w := &t.c.Waits[id]
		if !relevant(w.Cause) {
			continue
		}
		after, before := t.beside(w)
		d := w.Back.Sub(w.From)
		held, sends := t.whileHeld(w)
		sent := after || before || 2*sends > held
		at := []*lockSends{}
		if w.Cause == timeline.CauseLock && w.Lock != timeline.None {
			at = append(at, entry(t.locks, w.Lock))
		}
		if name := site(t.c, w.Stack); name != "" {
			at = append(at, entry(t.sites, name))
		}
		for _, x := range at {
			x.all += d
			x.held, x.sends = x.held+held, x.sends+sends
			if sent {
				x.with += d
			}
		}
	}
}

func entry[K comparable](m map[K]*lockSends, k K) *lockSends {
	if m[k] == nil {
		m[k] = &lockSends{}
	}
	return m[k]
}

// whileHeld returns for how much of a wait its lock's holder is known, and for how much of that the holder had sent
// something with it. If a lock has many holders, they are not visited for each wait that they share.
func (t *telemetry) whileHeld(w *timeline.Wait) (held, sends Duration) {
	if len(w.Holds) > manyPieces && w.Lock != timeline.None {
		of, in := t.heldBy(w.Lock), diagnosis.Span{From: w.From, To: w.To}
		return of.held.of(in), of.sends.of(in)
	}
	for _, h := range w.Holds {
		held += h.To.Sub(h.From)
		if t.sentIn(h) {
			sends += h.To.Sub(h.From)
		}
	}
	return held, sends
}

// heldBy sums up the tenures of a lock.
func (t *telemetry) heldBy(lock timeline.LockID) *heldSums {
	of := t.holders[lock]
	if of == nil {
		var held, sends []diagnosis.Span
		for _, h := range newDeeds(t.c).tenures(lock) {
			span := diagnosis.Span{From: h.From, To: h.To}
			held = append(held, span)
			if t.sentIn(h) {
				sends = append(sends, span)
			}
		}
		of = &heldSums{sumOf(held), sumOf(sends)}
		t.holders[lock] = of
	}
	return of
}

// sentIn reports whether a holder sent something while it had a lock.
func (t *telemetry) sentIn(h timeline.Hold) bool {
	from := h.From - beforeSend
	if h.Since != recording.NoTime {
		from = min(from, h.Since)
	}
	return len(t.sent(h.Strand, from, h.To+1)) > 0
}

// mostly reports whether two thirds of the waits at a lock or place go with sends. A thread that loses the processor,
// or the interpreter, between a wait and a send hides that they go together.
func (x *lockSends) mostly() bool { return x != nil && 3*x.with >= 2*x.all && x.all > 0 }

// collect lists what a strand does to get telemetry out.
func (t *telemetry) collect(s timeline.StrandID) {
	var list []sending
	for k, i := range t.sends[s] {
		d := &t.c.Datagrams[i]
		from := t.last(s, k)
		if d.From < d.To {
			list = append(list, sending{window{d.From, d.To}, sendAsleep, timeline.None})
		} else if from = max(from, d.To-diagnosis.Time(t.typical)); from < d.To {
			list = append(list, sending{window{from, d.To}, sendCPU, timeline.None})
		}
	}
	for _, id := range t.c.Strands[s].Waits {
		w := &t.c.Waits[id]
		if kind, ok := t.kind(w); ok {
			list = append(list, sending{window{w.From, w.Back}, kind, id})
		}
	}
	slices.SortFunc(list, func(a, b sending) int { return cmp.Compare(a.from, b.from) })
	if list = disjoint(list); len(list) > 0 {
		t.on[s] = list
	}
}

// disjoint cuts from each of some spans that overlap, in order of beginning, what the ones before it cover. What is
// sent between the parts of a timed wait lies in that wait.
func disjoint(list []sending) (out []sending) {
	var end diagnosis.Time
	for _, x := range list {
		if x.from = max(x.from, end); x.from < x.to {
			out, end = append(out, x), x.to
		}
	}
	return out
}

// kind tells what a wait has to do with sends, if anything.
func (t *telemetry) kind(w *timeline.Wait) (sendKind, bool) {
	if w.Cause == timeline.CauseDisk {
		return sendFile, t.logs(w.Stack) || logFile(t.c, w.Off)
	}
	if kind, ok := logKind(w.Cause); ok && t.logs(w.Stack) {
		return kind, true
	}
	if !relevant(w.Cause) || t.sends[w.Strand] == nil {
		return 0, false
	}
	kind := sendLock
	if w.Cause == timeline.CauseInterpreterLock {
		kind = sendInterpreter
	}
	if w.Lock != timeline.None && w.Cause == timeline.CauseLock && t.locks[w.Lock].mostly() {
		return kind, true
	}
	name := site(t.c, w.Stack)
	if name != "" {
		return kind, w.Cause != timeline.CauseCondition && t.sites[name].mostly()
	}
	after, before := t.beside(w)
	switch {
	case w.Cause == timeline.CauseLock:
		return kind, before
	case after && t.interpreted(w.Strand): // a futex of which nothing more is known
		return sendInterpreter, true
	}
	return sendUnsure, before
}

// logFile reports whether a wait for a disk is for a log's file, by its name. A thread that waits until data is on a
// device needs it there, as for a journal, which databases also call *.log: that is no telemetry.
func logFile(c *diagnosis.Case, off *timeline.Off) bool {
	return strings.HasSuffix(c.FileName(off), ".log") && !slices.Contains(timeline.SyncCalls, off.Syscall)
}

func (t *telemetry) interpreted(s timeline.StrandID) bool {
	rt := runtimeOf(t.c, t.c.Strands[s].Process)
	return rt == recording.RuntimePython || rt == recording.RuntimeRuby
}

// within returns what of that a strand does in a span.
func (t *telemetry) within(s timeline.StrandID, from, to diagnosis.Time) []sending {
	list := t.on[s]
	i, _ := slices.BinarySearchFunc(list, from+1, func(x sending, at diagnosis.Time) int { return cmp.Compare(x.to, at) })
	n, _ := slices.BinarySearchFunc(list, to, func(x sending, at diagnosis.Time) int { return cmp.Compare(x.from, at) })
	return list[i:max(i, n)]
}

// sent returns the datagrams whose send ended in a span.
func (t *telemetry) sent(s timeline.StrandID, from, to diagnosis.Time) []int {
	list := t.sends[s]
	by := func(d int, at diagnosis.Time) int { return cmp.Compare(t.c.Datagrams[d].To, at) }
	i, _ := slices.BinarySearchFunc(list, from, by)
	n, _ := slices.BinarySearchFunc(list, to, by)
	return list[i:max(i, n)]
}

// background counts the datagrams of strands that serve no request at all.
func (t *telemetry) background() (n int) {
	serves := map[timeline.StrandID]bool{}
	for i := range t.c.Requests {
		r := &t.c.Requests[i]
		serves[r.Strand] = true
		for _, p := range r.Parts {
			serves[p.Strand] = true
		}
	}
	for s, list := range t.sends {
		if !serves[s] {
			n += len(list)
		}
	}
	return n
}

// holderSent returns the time in waits for the locks around sends whose holder is known, and in which share of it the
// holder sent.
func (t *telemetry) holderSent() (held Duration, share diagnosis.Share) {
	var sends Duration
	for _, x := range t.locks {
		if x.mostly() {
			sends, held = sends+x.sends, held+x.held
		}
	}
	return held, diagnosis.ShareOf(int64(sends), int64(held))
}
