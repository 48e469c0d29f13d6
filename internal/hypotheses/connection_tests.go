package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// asksAlive reports whether an operation only asks if a connection works.
func asksAlive(operation string) bool { return operation == "SELECT 1" || operation == "PING" }

// tests reports whether the i-th call of a request is one with which a pool tests an open connection before it hands it
// out. The next call on that connection is then the request's.
func tests(c *diagnosis.Case, r *timeline.Request, i int) bool {
	call := &c.Calls[r.Calls[i]]
	if call.New || !asksAlive(call.Operation) {
		return false
	}
	return slices.ContainsFunc(r.Calls[i+1:], func(id timeline.CallID) bool {
		next := &c.Calls[id]
		return next.Conn == call.Conn && next.Ordinal == call.Ordinal+1
	})
}

// tested holds the calls of one operation that test connections to one peer before each use.
type tested struct {
	shape
	calls    []timeline.CallID
	took     []Duration
	requests int
}

// testedAt returns, for each peer and operation, what testing connections before each use costs requests.
func testedAt(c *diagnosis.Case) (out []diagnosis.Candidate) {
	var all []*tested
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		var last *tested
		for i, k := range r.Calls {
			if !tests(c, r, i) {
				continue
			}
			call := &c.Calls[k]
			at := slices.IndexFunc(all, func(t *tested) bool { return t.shape == shapeOf(call) })
			if at < 0 {
				at = len(all)
				all = append(all, &tested{shape: shapeOf(call)})
			}
			t := all[at]
			if t != last {
				t.requests++
			}
			last = t
			t.calls, t.took = append(t.calls, k), append(t.took, call.End.Sub(call.Start))
		}
	}
	for _, t := range all {
		slices.Sort(t.took)
		out = append(out, t.candidate(c))
	}
	return out
}

// candidate is what using connections without a test would save: what requests wait for the answers, and of each at most
// the time that one usually takes. If a test takes longer, its peer has to wake or waits for a processor; then the next
// call would take that time.
func (t *tested) candidate(c *diagnosis.Case) diagnosis.Candidate {
	of := map[timeline.CallID]bool{}
	for _, id := range t.calls {
		of[id] = true
	}
	p50 := diagnosis.Quantile(t.took, 50)
	var saved []diagnosis.Span
	spans := c.Spans(func(r *timeline.Request, s *timeline.Segment) bool {
		if s.Call == timeline.None || !of[s.Call] {
			return false
		}
		if to := min(s.To, c.Calls[s.Call].Start+diagnosis.Time(p50)); s.From < to {
			saved = append(saved, diagnosis.Span{Request: r.ID, From: s.From, To: to})
		}
		return true
	})
	_, share := perMean(c, diagnosis.Total(spans))
	return diagnosis.Candidate{
		Place: callName(t.shape),
		Title: "Connections to " + t.peer + " are tested (" + t.operation + ") before each use, and the request waits for the test: " + diagnosis.Plural(len(t.calls), "call") + " in " +
			diagnosis.Thousands(int64(t.requests)) + " of " + diagnosis.Plural(len(c.Overall.Requests), "request") + ", " + diagnosis.Human(p50) + " each" + calledIn(c, t.calls),
		Fix:     untriedFix(runtimeOf(c, c.Calls[t.calls[0]].Process)),
		Next:    "dwell show REC --slowest 3 shows the calls of single requests",
		Lead:    "testing connections to " + t.peer + " before their use takes " + diagnosis.Percent(share) + " of all request time",
		Spans:   saved,
		AtLeast: true, // what is computed to ask cannot be told from other work
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("calls that only test a connection right before its use", len(t.calls)),
			diagnosis.Count("requests that wait for them", t.requests),
			diagnosis.NS("p50 of such a call", p50),
			diagnosis.Part("of all request time is spent waiting for them", share),
		},
	}
}

// untriedFix says how connections are used without a test, in a runtime's own words.
func untriedFix(rt recording.Runtime) string {
	how := map[recording.Runtime]string{
		recording.RuntimePython: ": pool_recycle instead of pool_pre_ping (SQLAlchemy), health_check_interval (redis-py)",
		recording.RuntimeJVM:    ": testWhileIdle instead of testOnBorrow (DBCP, Tomcat, Jedis), HikariCP without connectionTestQuery",
		recording.RuntimeRuby:   " (newer versions of Active Record do)",
	}
	return "test only connections that were idle for long, or test them in the background, and repeat a call whose connection turns out to be closed" + how[rt]
}

// bound reports whether a call on a session can begin only after another one has ended: both are in one transaction, or
// the first one tests the connection.
func bound(c *diagnosis.Case, before, next *timeline.Call) bool {
	if before.Conn != next.Conn {
		return false
	}
	in := c.Once("transactions of calls", func() any {
		of := map[timeline.CallID]int{}
		for i, x := range c.Transactions() {
			for _, id := range x.Calls {
				of[id] = i + 1
			}
		}
		return of
	}).(map[timeline.CallID]int)
	return in[before.ID] > 0 && in[before.ID] == in[next.ID] || asksAlive(before.Operation)
}
