package hypotheses

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func refreshUnderLock() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "refresh-under-lock",
		Title: "Requests wait for a lock whose holder waits itself",
		Doc: "The wait for a peer, a disk or a timer is paid by everybody behind the lock.\n\n" +
			"Support: waits for a lock while its holder waits for a peer (connecting, TLS and answers), a disk or a timer. Waits of tasks on an event loop count too if four fifths of them end in the very stretch of the loop in which the call " +
			"of another request is answered, and if calls of that shape are made one at a time.\n\n" +
			"Not this: holders that compute belong to lock-convoy. It is undecided if too little is known of what the holders did.\n\n" +
			"Saving: those who came for the lock are replayed, each with the lock only for the rest of its time, without that wait. What a request waits less is taken out. If little is known of the holders, it is the part of the waits that " +
			"passed meanwhile. If under a quarter of an endpoint's requests do the holder's part, as when one of many refreshes what all use, it could be done ahead of time. Then the holder's own wait goes too, and so do waits for the same " +
			"call while nobody waited behind it.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"lock-convoy", "pool-exhausted", "accept-queue", "load"},
		Family:   familyLocks,
		Test:     testRefreshUnderLock,
	}
}

func testRefreshUnderLock(c *diagnosis.Case) diagnosis.Result {
	var total, inside, hidden Duration
	res := diagnosis.Result{Hidden: hiddenLocks(c)}
	for _, k := range contentions(c, timeline.CauseLock) {
		total += k.total
		if inside += k.by[deedIO]; k.by[deedIO] > 0 {
			res.Candidates = append(res.Candidates, refreshAt(c, k))
		}
		hidden += k.by[deedUnknown] + k.by[deedAsleep]
		res.Hidden = append(res.Hidden, k.unheld()...)
	}
	tasks := behindTasks(c)
	for _, of := range slices.SortedFunc(maps.Keys(tasks), taskCalls.compare) {
		if !of.nobody {
			res.Candidates = append(res.Candidates, behindTask(c, of.shape, tasks[of]))
		}
	}
	if _, share := perMean(c, hidden); share >= c.Open && 2*hidden > total {
		res.Undecided = diagnosis.Percent(share) + " of all request time is spent waiting for locks, and it is not known what their holders did or waited for"
	}
	res.Lead = lockLead(c, total)
	if total > 0 {
		res.Lead = "for " + diagnosis.Percent(diagnosis.ShareOf(int64(inside), int64(total))) + " of the time that requests wait for locks, the holder itself waits"
	}
	res.Evidence = append([]diagnosis.Evidence{
		diagnosis.Part("of the wait for locks passes while the holder itself waits for a peer, a disk or a timer", diagnosis.ShareOf(int64(inside), int64(total))),
	}, lockEvidence(c, total)...)
	return res
}

// unheld returns, of each stay, up to its end, as much as it is not known what the holder did.
func (k *contention) unheld() (out []diagnosis.Span) {
	for i := range k.stays {
		s := k.stays[i].Span
		if d := k.parts[i][deedUnknown] + k.parts[i][deedAsleep]; d > 0 {
			s.From = s.To - diagnosis.Time(d)
			out = append(out, s)
		}
	}
	return out
}

func refreshAt(c *diagnosis.Case, k *contention) diagnosis.Candidate {
	gone := k.spareOf(c, deedIO)
	spans := append(spansOf(gone), k.queues(c, gone)...)
	own := rareOwn(c, k.done(deedIO))
	spans = append(spans, own...)
	peer, from, waiting := k.behind(c), "", "waiting for "
	if at := k.calledFrom(c, deedIO); at != "" {
		from = ", called from " + at
	}
	fix := "do not hold the lock while waiting for " + peer + ": fetch first, then take the lock to store the result"
	if peer == aTimer {
		fix = "do not hold the lock while waiting for a timer: release it before, and take it again for the next piece of work"
	}
	if k.writes(c) {
		spans = append(spans, ownWrites(c, k.done(deedIO))...)
		fix = "do not hold the lock during the write: put the data into a bounded buffer that one thread empties, as asynchronous logs do, and drop what does not fit; and see why the reader is slow"
	}
	if k.shared(c) && len(own) == 0 {
		fix = "requests that ask for different things must not wait for each other: use a key that tells them apart (singleflight's key); if they ask for the same thing, keep the result for the next request"
	} else if k.shared(c) {
		fix = "refresh ahead of time, in the background, and let requests use the old value until the new one has arrived"
	} else if len(own) > 0 {
		fix = "refresh ahead of time, in the background, and let requests use the old value until the new one has arrived; take the lock only to store it"
	}
	if shared := k.sharedFix(c, len(own) > 0); shared != "" && !k.shared(c) && !k.fetching(c) {
		fix = shared
	}
	if k.fetching(c) {
		waiting = "fetching credentials from "
		fix += refreshFix(runtimeOf(c, k.process(c)), peer)
	}
	return diagnosis.Candidate{
		Place:    k.place(c),
		Title:    "Requests wait " + meanWords(c, spansOf(k.stays)) + " for " + k.named(c) + k.taken(c) + k.heldBy(c) + " while " + waiting + peer + from,
		Fix:      fix,
		Next:     "dwell threads REC shows who waits for whom at any time",
		Lead:     "requests wait for " + k.named(c) + " while its holder is " + waiting + peer,
		Spans:    spans,
		Evidence: append([]diagnosis.Evidence{diagnosis.Part("of the wait for the lock passes while its holder itself waits for a peer, a disk or a timer", diagnosis.ShareOf(int64(k.by[deedIO]), int64(k.total)))}, k.evidence(c)...),
	}
}

// rareOwn returns the holders' waits for calls, as time of their own requests, at endpoints where under a quarter of
// the requests make a call of that shape, under the lock or not: there one request does what all need. Waits for such a
// call behind which nobody happened to wait go too, because what is done ahead of time is done so for all. Shapes are
// told apart: if a holder also did what all requests do, the rare call is no more common for it.
func rareOwn(c *diagnosis.Case, did []*deed) []diagnosis.Span {
	shapes := shapesOf(c)
	did = slices.DeleteFunc(slices.Clone(did), func(d *deed) bool { return d.call == timeline.None })
	if len(did) == 0 {
		return nil
	}
	rare := rareShapes(c, did)
	own := ownTime(c, did, func(r *timeline.Request, d *deed) bool { return rare[callers{r.Endpoint, shapes.of[d.call]}] })
	if len(own) == 0 {
		return nil
	}
	return append(own, c.Spans(func(r *timeline.Request, s *timeline.Segment) bool {
		return s.Call != timeline.None && s.Cause != timeline.CauseOnCPU && rare[callers{r.Endpoint, shapes.of[s.Call]}]
	})...)
}

// callers are the requests of an endpoint that make a call of a shape.
type callers struct {
	endpoint string
	shape    int32
}

// rareShapes reports, for the shapes of the calls that holders waited for, at which endpoints only few requests make
// such a call.
func rareShapes(c *diagnosis.Case, did []*deed) map[callers]bool {
	shapes := shapesOf(c)
	some := make([]bool, len(shapes.list))
	for _, d := range did {
		some[shapes.of[d.call]] = true
	}
	makes, all, last := map[callers]int{}, map[string]int{}, map[callers]diagnosis.RequestID{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		all[r.Endpoint]++
		for _, k := range r.Calls {
			at := callers{r.Endpoint, shapes.of[k]}
			if before, seen := last[at]; some[at.shape] && !(seen && before == id) {
				makes[at]++
				last[at] = id
			}
		}
	}
	rare := map[callers]bool{}
	for at, n := range makes {
		rare[at] = diagnosis.ShareOf(int64(n), int64(all[at.endpoint])) < rareShare
	}
	return rare
}

// writes reports whether holders mostly waited to get rid of something: to a pipe, a terminal or a socket that is no
// call's.
func (k *contention) writes(c *diagnosis.Case) bool {
	var wrote Duration
	for i, d := range k.weights {
		if at := &k.did[i]; at.kind == deedIO && at.call == timeline.None && writing(c, at) {
			wrote += d
		}
	}
	return 2*wrote > k.by[deedIO]
}

// ownWrites returns what holders wait, as time of their own requests, to get rid of something: with a buffer in between
// none does.
func ownWrites(c *diagnosis.Case, did []*deed) []diagnosis.Span {
	did = slices.DeleteFunc(slices.Clone(did), func(d *deed) bool { return d.call != timeline.None || !writing(c, d) })
	return ownTime(c, did, func(*timeline.Request, *deed) bool { return true })
}

// fetching reports whether holders mostly waited for calls that fetch credentials.
func (k *contention) fetching(c *diagnosis.Case) bool {
	var credentials Duration
	for i, d := range k.weights {
		if at := &k.did[i]; at.kind == deedIO && at.call != timeline.None {
			if class, _ := classOf(c).OfCall(&c.Calls[at.call]); class == peers.Credential {
				credentials += d
			}
		}
	}
	return 2*credentials > k.by[deedIO]
}

// calledFrom names the place in the service's own code, with its line, from which holders did most of some kind; if no
// stack has one, the place that doing names. Stacks of what they did count before stacks with which they let go
// afterwards.
func (k *contention) calledFrom(c *diagnosis.Case, kind deedKind) string {
	sites, later := tally{}, tally{}
	for i, d := range k.weights {
		if d == 0 || k.did[i].kind != kind {
			continue
		}
		for _, f := range c.StackFrames(k.did[i].stack) {
			if !symbol.Application(f) {
				continue
			}
			if k.did[i].later {
				later[symbol.Place(f)] += d
			} else {
				sites[symbol.Place(f)] += d
			}
			break
		}
	}
	name, _ := sites.most()
	after, _ := later.most()
	return cmp.Or(name, after, k.doing(c, kind))
}

// writing reports whether a holder waits for room to write: in a system call that writes, or in one that waits for a
// socket or pipe, beneath a function that writes.
func writing(c *diagnosis.Case, d *deed) bool {
	switch d.syscall {
	case "write", "writev", "sendto", "sendmsg", "sendmmsg":
		return true
	case "poll", "ppoll", "select", "pselect6":
	default:
		return false
	}
	for _, f := range c.StackFrames(d.stack) {
		if symbol.Application(f) {
			return false
		}
		if slices.ContainsFunc(writers, func(w string) bool { return strings.HasSuffix(f.Function, w) }) {
			return true
		}
	}
	return false
}

// writers are functions, by the ends of their names, that wait until they may write.
var writers = []string{
	"rb_io_maybe_wait_writable", "rb_io_wait_writable", "IO#write", "IO#syswrite", "IO#wait_writable", "IO#puts", "IO#print", "IO#<<", "IO#flush",
	"NioSocketImpl.implWrite", "SocketChannelImpl.write", "SocketChannelImpl.blockingWrite",
}
