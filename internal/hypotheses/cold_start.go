package hypotheses

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func coldStart() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "cold-start",
		Title: "Requests are slow while the process is young",
		Doc: "Caches, pools and compilers that are not warm yet slow the first requests of a process.\n\n" +
			"Support: the calls of an endpoint are ordered by the age of the process. The first ones take at least twice as long as the later ones; or nine of ten of them take longer than the later median, waits for a processor left out. The " +
			"slow time must be at least a third of the age at which it ends. Requests that wait in the listening socket while none of the serving processes is there also count: the last has ended, and the next is still starting.\n\n" +
			"Not this: slow calls that end soon after the recording began but long after the process did. Nor is it a queue that drains: calls that take no longer once they are read, or once they have the pool member that serves them. What " +
			"programs beside the service cost does not count. It is refuted if calls take as long at first as later, or if the process was old (30 minutes). It is undecided if the recording began late after the start and is too short to show a " +
			"fall. If the slow calls mostly wait for something unknown, it is a lead.\n\n" +
			"Saving: what the slow calls take longer than the later ones is taken out, and the waits for a process to start.",
		Needs:    []string{recording.HookIO},
		Where:    true,
		Explains: []string{"cpu-bound", "run-queue", "accept-queue", "load"},
		Test:     testColdStart,
	}
}

// Bounds of a cold start.
const (
	coldRuns = 50                   // at most so many medians, each of a run of consecutive calls
	coldOld  = Duration(1800 * 1e9) // a process of this age started long ago
)

// youth describes how long the calls of an endpoint took, by the age of their process.
type youth struct {
	of           *diagnosis.Symptom
	others       []diagnosis.Span      // what programs beside the service cost requests
	took         []Duration            // of each request, without the cost of others
	order        []diagnosis.RequestID // by age
	first, last  Duration              // ages of the first and the last call
	known        bool                  // whether ages are known
	young, later Duration              // medians of the slow and of the later calls
	until        Duration              // the age until which calls are slow
	slow         int                   // calls until then
	above        diagnosis.Share       // the share of them that takes longer than the later median; 0: the slow calls show in their medians
	queued       bool                  // they were slow only because they waited in a queue
}

func testColdStart(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	var most *youth
	for i := range c.Symptoms {
		y := youthOf(c, &c.Symptoms[i])
		if y == nil {
			continue
		}
		if most == nil {
			most = y
		}
		late := y.known && y.last < 2*y.first
		switch {
		case y.slow > 0 && !y.known:
			res.Undecided = "requests of " + y.of.Endpoint + " are slow at first, but when the process began is not known"
		case y.slow > 0 && y.lasts():
			res.Candidates = append(res.Candidates, y.candidate(c))
		case late && y.first < coldOld && y.uneven(c):
			res.Undecided = "the recording began " + diagnosis.Human(y.first) + " after the process started and covers " + diagnosis.Human(y.last-y.first) +
				": too late and too short to see whether requests of " + y.of.Endpoint + " become faster"
		}
	}
	if a := absences(c); len(a.spans) > 0 {
		res.Candidates = append(res.Candidates, a.candidate(c))
	}
	if len(res.Candidates) > 0 {
		res.Undecided = ""
	}
	if most == nil {
		res.Lead = "no endpoint got " + diagnosis.Thousands(scanCalls) + " requests"
		return res
	}
	res.Evidence, res.Lead = most.evidence(), most.lead()
	return res
}

// lasts reports whether calls are slow for a part of the process's age that a start can take: at least a third.
func (y *youth) lasts() bool { return 3*(y.until-y.first) >= y.until }

// uneven reports whether some calls are so slow that there is something to explain.
func (y *youth) uneven(c *diagnosis.Case) bool {
	return y.of.P99 >= Duration(c.WhereRatio)*y.of.P50 && y.of.P99-y.of.P50 >= c.Resolution || c.Broken(y.of)
}

// youthOf sorts an endpoint's calls by age; nil if there are too few.
func youthOf(c *diagnosis.Case, of *diagnosis.Symptom) *youth {
	if len(of.Requests) < scanCalls {
		return nil
	}
	born := map[recording.ProcessID]diagnosis.Time{}
	for i := range c.Processes {
		born[c.Processes[i].ID] = c.Processes[i].Born
	}
	y := &youth{of: of, order: slices.Clone(of.ByID()), known: true, others: tookFrom(c), took: make([]Duration, len(c.Requests))}
	for i := range c.Requests {
		y.took[i] = c.Requests[i].Duration()
	}
	for _, s := range y.others {
		y.took[s.Request] -= s.To.Sub(s.From)
	}
	age := make([]Duration, len(c.Requests))
	for _, id := range y.order {
		r := &c.Requests[id]
		b := born[r.Process]
		y.known = y.known && b != recording.NoTime
		age[id] = r.Start.Sub(b)
	}
	slices.SortFunc(y.order, func(a, b diagnosis.RequestID) int { return cmp.Or(cmp.Compare(age[a], age[b]), cmp.Compare(a, b)) })
	y.first, y.last = age[y.order[0]], age[y.order[len(y.order)-1]]
	y.fall(c, age)
	if y.slow > 0 && y.waited(c) {
		y.slow, y.until, y.queued = 0, 0, true
	}
	return y
}

// waited reports whether most of what the slow calls take longer passed in a queue. They waited before they were read.
// Or they waited for a member of a pool that is not being filled then, and take less than three times as long as later
// ones without that and without waiting for a processor.
func (y *youth) waited(c *diagnosis.Case) bool {
	slow, later := meanCalls(c, y.order[:y.slow]), meanCalls(c, y.order[len(y.order)/2:])
	more := slow.took - later.took
	return 2*(slow.read-later.read) < more || !slow.fills && 2*(slow.pool-later.pool) > more && slow.own < 3*later.own
}

// meanCall is the mean of some calls: in all, once they are read, for a member of a pool, and without the wait for that
// and for a processor.
type meanCall struct {
	took, read, pool, own Duration
	fills                 bool // some of them open a connection
}

func meanCalls(c *diagnosis.Case, ids []diagnosis.RequestID) (m meanCall) {
	ready := costOf(c, c.Ready())
	for _, id := range ids {
		r := &c.Requests[id]
		m.took += r.Duration()
		m.read += r.End.Sub(r.FirstRead)
		m.own -= ready[id]
		for s := r.Segments(); s.Next(); {
			if s.Cause == timeline.CausePool && s.Phase != timeline.PhaseUnread {
				m.pool += s.To.Sub(s.From)
			}
		}
		for _, k := range r.Calls {
			m.fills = m.fills || c.Calls[k].New
		}
	}
	n := Duration(max(1, len(ids)))
	m.took, m.read, m.pool, m.own = m.took/n, m.read/n, m.pool/n, (m.read-m.pool+m.own)/n
	return m
}

// fall finds until when calls are slow. Either the runs from the first on have a median at least twice that of the
// later half; or nearly all calls take longer than the later median.
func (y *youth) fall(c *diagnosis.Case, age []Duration) {
	n := len(y.order)
	runs := min(coldRuns, n/scanRun)
	took := func(from, to int) Duration {
		list := make([]Duration, 0, to-from)
		for _, id := range y.order[from:to] {
			list = append(list, y.took[id])
		}
		diagnosis.Sort(list)
		return diagnosis.Quantile(list, 50)
	}
	y.later = took(n/2, n)
	end := 0
	for b := range runs / 2 {
		m := took(b*n/runs, (b+1)*n/runs)
		if m < 2*y.later || m-y.later < c.Resolution {
			break
		}
		end = (b + 1) * n / runs
	}
	if more := y.longer(c); more > end {
		end = more
	} else {
		y.above = 0
	}
	y.young = took(0, max(end, n/runs))
	if end > 0 {
		for i, next := end, min(n, end+n/runs); i < next; i++ { // the fall lies in the next run
			if y.took[y.order[i]] >= 2*y.later {
				end = i + 1
			}
		}
		y.slow = end
		y.until = age[y.order[end-1]]
	}
}

// longer returns how many of the first half of calls make up a slow start: nine of ten of them, and the last one, take
// longer than the later median. If calls differ by chance, about five of ten do. Waits for a processor do not count: at
// times other programs have the processors.
func (y *youth) longer(c *diagnosis.Case) (end int) {
	took, ready := make([]Duration, 0, len(y.order)), costOf(c, c.Ready())
	for _, id := range y.order {
		took = append(took, c.Requests[id].Duration()-ready[id])
	}
	half := len(took) / 2
	later := slices.Clone(took[half:])
	diagnosis.Sort(later)
	above := 0
	for i, d := range took[:half] {
		if d <= diagnosis.Quantile(later, 50)+c.Resolution {
			continue
		}
		if above++; above >= scanCalls/2 && 10*above >= 9*(i+1) {
			end, y.above = i+1, diagnosis.ShareOf(int64(above), int64(i+1))
		}
	}
	return end
}

func (y *youth) lead() string {
	takes := "requests take " + diagnosis.Human(y.young) + " at first and " + diagnosis.Human(y.later) + " later"
	switch {
	case y.queued:
		return takes + ", mostly because they waited in a queue before they were read"
	case y.known && y.slow > 0 && !y.lasts():
		return "slow requests end " + diagnosis.Human(y.until) + " after the process began, " + diagnosis.Human(y.until-y.first) +
			" into the recording (threshold: a third of that age)"
	case y.known && y.first >= coldOld:
		return takes + "; the process was " + diagnosis.Human(y.first) + " old (threshold " + diagnosis.Human(coldOld) + ")"
	}
	return takes + " (threshold: 2 x, or nine of ten of the first requests above the later median)"
}

func (y *youth) evidence() []diagnosis.Evidence {
	ev := []diagnosis.Evidence{
		diagnosis.NS("median of the first requests of "+y.of.Endpoint, y.young).On(y.order),
		diagnosis.NS("median of the later half of the requests", y.later),
	}
	if y.above > 0 {
		ev = append(ev, diagnosis.Part("of the first requests take longer than the later median", y.above).Against(int64(diagnosis.Whole*9/10)))
	} else {
		ev[0] = ev[0].Against(int64(2 * y.later))
	}
	if y.known {
		ev = append(ev,
			diagnosis.NS("age of the process at the first request", y.first).Against(int64(coldOld)),
			diagnosis.NS("age of the process at the last request", y.last))
	}
	return ev
}

func (y *youth) candidate(c *diagnosis.Case) diagnosis.Candidate {
	more := y.more(c)
	causes, most := more.most(), y.mostly(c)
	title := "In the first " + diagnosis.Human(y.until) + " of the process " + y.of.Endpoint + " takes " +
		diagnosis.Human(y.young) + ", later " + diagnosis.Human(y.later) + " (medians"
	if len(y.others) > 0 {
		title += ", without the cost of other programs"
	}
	title += ")"
	if len(causes) > 0 {
		title += "; the extra time is mostly " + causes[0].Words()
	}
	if len(causes) > 1 {
		title += " and " + causes[1].Words()
	}
	r := &c.Requests[y.order[0]]
	return diagnosis.Candidate{
		Place: processName(c, r.Process), Title: title, Fix: more.fix(),
		Next:  "record from the start with dwell run, then see dwell show REC --tree for the slow requests",
		Spans: y.over(c, more), Lead: y.lead(), Decide: coldDoubt(most),
		Evidence: append(y.evidence(), diagnosis.NS("age of the process until which requests are slow", y.until), diagnosis.Count("requests until then", y.slow)),
	}
}

// coldDoubt says what would decide whether calls are slow because the process is young, if they mostly wait for
// something unknown.
func coldDoubt(most timeline.Cause) string {
	if most == timeline.CauseUnknown {
		return "record another start: it is not known what the slow requests mostly wait for, and a queue that drains looks the same"
	}
	return ""
}

// over returns what slow calls take longer than later ones, without what other programs cost. It takes the time of
// those causes first that slow calls have most more of.
func (y *youth) over(c *diagnosis.Case, by moreTime) (out []diagnosis.Span) {
	more := map[diagnosis.RequestID]Duration{}
	for _, id := range y.order[:y.slow] {
		more[id] = y.took[id] - y.later
	}
	spent := y.spent(c, y.order[:y.slow])
	for _, cause := range by.order() {
		for _, s := range spent[cause] {
			if d := min(s.To.Sub(s.From), more[s.Request]); d > 0 {
				out = append(out, diagnosis.Span{Request: s.Request, From: s.From, To: s.From + diagnosis.Time(d)})
				more[s.Request] -= d
			}
		}
	}
	return out
}

// spent returns the time of some calls by cause, without what other programs cost.
func (y *youth) spent(c *diagnosis.Case, ids []diagnosis.RequestID) (by [timeline.NumCauses][]diagnosis.Span) {
	for _, id := range ids {
		for s := c.Requests[id].Segments(); s.Next(); {
			by[s.Cause] = append(by[s.Cause], diagnosis.Span{Request: id, From: s.From, To: s.To})
		}
	}
	for cause := range by {
		by[cause] = diagnosis.Without(c.Merged(by[cause]), y.others)
	}
	return by
}

// mostly returns the cause of most of the slow calls' time, without what other programs cost.
func (y *youth) mostly(c *diagnosis.Case) (most timeline.Cause) {
	most = timeline.CauseUnknown
	var longest Duration
	for cause, spans := range y.spent(c, y.order[:y.slow]) {
		if d := diagnosis.Total(spans); d > longest {
			most, longest = timeline.Cause(cause), d
		}
	}
	return most
}

// processName names a process in the user's terms.
func processName(c *diagnosis.Case, id recording.ProcessID) string {
	for i := range c.Processes {
		if p := &c.Processes[i]; p.ID == id {
			return "process " + p.Comm + " (pid " + strconv.FormatInt(p.PID, 10) + ")"
		}
	}
	return "a process"
}

// more compares the slow calls with the later ones.
func (y *youth) more(c *diagnosis.Case) (by moreTime) {
	later := y.order[max(y.slow, len(y.order)/2):]
	slow, after := y.spent(c, y.order[:y.slow]), y.spent(c, later)
	for cause := range by {
		by[cause] = diagnosis.Total(slow[cause])/Duration(max(1, y.slow)) - diagnosis.Total(after[cause])/Duration(max(1, len(later)))
	}
	return by
}

// fix is the advice for the cause that adds most.
func (m *moreTime) fix() string {
	return cmp.Or(coldFixes[m.order()[0]], coldFixes[timeline.CauseOnCPU])
}

// coldOnce is the advice for what is done once, and by the first requests.
const coldOnce = "do one-time work before the service reports ready, not in the first requests"

// coldFixes says what helps, by what young processes spend their requests' time on.
var coldFixes = map[timeline.Cause]string{
	timeline.CauseOnCPU:           "warm the service up before it takes requests: it should report ready only when its code is compiled and its caches are filled",
	timeline.CauseRunnable:        "do the work that is due after a start with a few threads at a time, before the service reports ready, so that requests need not queue behind it",
	timeline.CauseLock:            coldOnce,
	timeline.CauseCondition:       coldOnce,
	timeline.CausePool:            "fill pools before the service reports ready (minimum sizes, not only maximum ones)",
	timeline.CauseRemote:          "open connections and fill caches before the service reports ready",
	timeline.CauseDisk:            "read what is needed before the service reports ready",
	timeline.CausePageFault:       "touch mapped memory before the service reports ready (MAP_POPULATE, madvise)",
	timeline.CauseGC:              "start with the heap size that is needed later (-Xms)",
	timeline.CauseEventLoop:       coldOnce,
	timeline.CauseInterpreterLock: coldOnce,
}
