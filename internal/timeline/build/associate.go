package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// associate gives calls of strands that serve one request at a time to that request.
// Calls of loops are left to the rules for loops.
func associate(t *timeline.Timeline, f *facts.Facts, work []exchange.Call, o timeline.Stints) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Strand == timeline.None || t.Strands[c.Strand].Loop || c.Why != "" {
			continue
		}
		r := o.At(c.Strand, c.SendFrom)
		if c.SendFrom == recording.NoTime {
			r = o.At(c.Strand, c.Start)
		}
		if r == timeline.None {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
			continue
		}
		rule := timeline.WhyThread
		if t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			rule = timeline.WhyGoroutine
		}
		t.Assign(c, r, rule)
		if c.Start < t.Requests[r].FirstRead {
			warmed(c, &work[i].Bounds)
		}
	}
}

// associateLoops associates the calls of loop strands: by Node's async ids where they
// were recorded, else only where one request was open.
func associateLoops(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, moves []loops.Loop) (wanted []recording.Time) {
	wanted = make([]recording.Time, len(t.Calls))
	chains, conns, hands := newChains(len(t.Calls)), make([]asyncConn, len(f.Conns)), newAsked(len(t.Calls))
	alone := map[recording.ProcessID][]loops.Loop{} // loops without ids
	for _, loop := range moves {
		if hasAsyncIDs(loop.Moves) {
			in := asyncInput{loop: loop, wanted: wanted, chains: chains, conns: conns, hands: hands, sure: map[timeline.CallID]bool{}, atOnce: map[string]int{}, named: namedPromises(t, loop.Moves)}
			associateAsync(t, f, in)
			associateLeft(t, in)
			associateShared(t, f, in)
			associateAwaited(t, in)
		} else {
			associateSingle(t, loop)
			p := t.Strands[loop.Strand].Process
			alone[p] = append(alone[p], loop)
		}
	}
	for _, loops := range alone {
		associateChain(t, loops)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Why == "" {
			t.Assign(c, c.Request, timeline.WhyNoOwner)
		}
		if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			warmed(c, &calls[i].Bounds)
		}
		if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
		}
	}
	return wanted
}

// warmed makes a call on a connection that was opened before its request came one on
// a reused connection: opening it cost this request nothing.
func warmed(c *timeline.Call, b *exchange.Bounds) {
	c.New = false
	c.Start = recording.NoTime
	c.DNSFrom, c.DNSTo, c.Unanswered = recording.NoTime, recording.NoTime, 0
	c.ConnectFrom, c.Connected = recording.NoTime, recording.NoTime
	c.TLSFrom, c.TLSTo = recording.NoTime, recording.NoTime
	exchange.Settle(c, b)
}

// callInput is what rules for whose a call is go by, besides the Timeline and the facts so far.
type callInput struct {
	requests []exchange.Request
	calls    []exchange.Call
	owners   timeline.Stints
	contexts *contexts
	turns    *loops.Turns
}
