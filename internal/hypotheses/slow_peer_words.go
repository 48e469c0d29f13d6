package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// steadyTimes: a peer's answers are steady if their p99 is at most so many times their median.
const steadyTimes = 3

// answered is what is known of the calls to one peer.
type answered struct {
	waits      []Duration          // for its answers, in order of length
	rests      []Duration          // from the first byte of an answer to its last, in order of length
	operations map[string]Duration // waits by operation
	addresses  map[string]Duration
	requests   int // requests that made several calls to it
	inTurn     int // those of them that made each after the end of the one before
	of         int // all requests that made any
}

// add counts a call and how long its answer took.
func (a *answered) add(call *timeline.Call) {
	d := call.Phases[timeline.PhaseRemote]
	a.waits = append(a.waits, d)
	a.rests = append(a.rests, call.Phases[timeline.PhaseReceive])
	a.operations[call.Operation] += d
	a.addresses[call.Address] += d
}

// order counts the requests that made several calls to the peer, and those that made them one after the other.
func (a *answered) order(c *diagnosis.Case, calls []timeline.CallID) {
	by := map[diagnosis.RequestID][]timeline.CallID{}
	for _, id := range calls {
		if r := c.Calls[id].Request; r != timeline.None {
			by[r] = append(by[r], id)
		}
	}
	for _, ids := range by {
		a.of++
		if len(ids) < 2 {
			continue
		}
		a.requests++
		slices.SortFunc(ids, func(x, y timeline.CallID) int { return cmp.Compare(c.Calls[x].Start, c.Calls[y].Start) })
		apart := true
		for i := 1; i < len(ids); i++ {
			apart = apart && c.Calls[ids[i]].Start >= c.Calls[ids[i-1]].End
		}
		if apart {
			a.inTurn++
		}
	}
}

// steadily says whether the peer always takes as long; if calls were given up, it does not.
func (a *answered) steadily(givenUp bool) string {
	p50, p99 := diagnosis.Quantile(a.waits, 50), diagnosis.Quantile(a.waits, 99)
	words := "; calls take very different times"
	if p99 <= steadyTimes*p50 && !givenUp {
		words = "; each call takes about as long"
	}
	return words + " (answered ones: p50 " + diagnosis.Human(p50) + ", p99 " + diagnosis.Human(p99) + ")"
}

// rest says how long answers take once they have begun, if that is longer than until they begin.
func (a *answered) rest() string {
	rest := diagnosis.Quantile(a.rests, 50)
	if rest <= diagnosis.Quantile(a.waits, 50) {
		return ""
	}
	return "; an answer takes another " + diagnosis.Human(rest) + " from its first byte to its last (p50)"
}

// fix says where to look at the peer, beginning with some operation.
func (a *answered) fix(peer, operation string) string {
	return "the time is spent at " + peer + ": look there, first at " + cmp.Or(operation, "what these calls ask for")
}

// alive says for how much of a peer's time it is only asked whether a connection works, as a pool may do before each
// use of one.
func (a *answered) alive() string {
	var of, all Duration
	asked := ""
	for operation, d := range a.operations {
		if all += d; asksAlive(operation) {
			of += d
			asked = operation
		}
	}
	share := diagnosis.ShareOf(int64(of), int64(all))
	if share < diagnosis.Whole/10 {
		return ""
	}
	return "; " + diagnosis.Percent(share) + " of that time only tests connections (" + asked + "): a pool can test those that were idle, instead of each before its use"
}

// turns says how many calls a request makes, and whether one after another.
func (a *answered) turns() string {
	if a.requests == 0 {
		return ""
	}
	words := "; " + diagnosis.Thousands(int64(a.requests)) + " of " + diagnosis.Plural(a.of, "request") + " make several such calls"
	if a.requests == a.of {
		words = "; all " + diagnosis.Plural(a.of, "request") + " that call it make several such calls"
	}
	if 2*a.inTurn >= a.requests {
		words += ", one after another"
	}
	return words
}

// mostOf returns the largest of a peer's operations or addresses, and its share.
func mostOf(by map[string]Duration) (name string, share diagnosis.Share) {
	most, all := Duration(-1), Duration(0)
	for k, d := range by {
		if all += d; d > most || d == most && k < name {
			name, most = k, d
		}
	}
	return name, diagnosis.ShareOf(int64(most), int64(all))
}

// throughProxy says through which proxy all calls went; "" if not all went through the same.
func throughProxy(c *diagnosis.Case, calls []timeline.CallID) string {
	if len(calls) == 0 || c.Calls[calls[0]].Proxy == "" {
		return ""
	}
	proxy := c.Calls[calls[0]].Proxy
	if slices.ContainsFunc(calls, func(id timeline.CallID) bool { return c.Calls[id].Proxy != proxy }) {
		return ""
	}
	return ", through the proxy at " + proxy + ","
}

// setUpApart says that opening connections is not counted, if calls take a part of their time for it that is worth
// having.
func setUpApart(c *diagnosis.Case, calls []timeline.CallID) string {
	var opening, waited Duration
	for _, id := range calls {
		of := &c.Calls[id].Phases
		opening += of[timeline.PhaseDNS] + of[timeline.PhaseConnect] + of[timeline.PhaseTLS]
		waited += of[timeline.PhaseRemote]
	}
	if opening == 0 || diagnosis.ShareOf(int64(opening), int64(opening+waited)) < c.Worth {
		return ""
	}
	return " (opening connections not counted)"
}
