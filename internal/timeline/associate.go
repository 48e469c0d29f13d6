package timeline

import "github.com/getdwell/dwell/recording"

// Why a call was associated, or not: stable codes in Call.Why.
const (
	WhyThread     = "thread"         // its thread was serving that request and no other
	WhyGoroutine  = "goroutine"      // written on the request's own goroutine
	WhyGoCall     = "go-call"        // the request's goroutine handed it to a pooled connection
	WhyGoChild    = "go-child"       // made by a goroutine that the request's started
	WhyGoDial     = "go-dial"        // a new connection, dialled from the request's goroutine
	WhyAsync      = "async-id"       // Node's async ids lead to the request
	WhyAsyncHint  = "async-turn"     // made and answered in turns of that request, as far as ids tell
	WhyInLine     = "pool-order"     // the request stood first in line for a connection of the pool that was full
	WhyShared     = "shared-order"   // of what several requests sent on one connection, in the order in which they could
	WhyLoopSingle = "loop-single"    // the only request open on that loop
	WhyLoopChain  = "loop-chain"     // what the loop read right before leads to the request, and the loop's responses confirm it
	WhyNoOwner    = "no-owner"       // nobody was being served there
	WhyReused     = "go-reused"      // Go, on a pooled connection: which request is not known
	WhyAmbiguous  = "loop-ambiguous" // several requests were open on that loop
	WhyAwaited    = "awaited"        // the request waits for the promise that its answer resolved
	WhyContext    = "context"        // Python: sent in the context of the request, or in a copy that was made for it
	WhyNoContext  = "no-context"     // Python: sent in a context that is no open request's
	WhyNoAsync    = "async-unowned"  // Node's async ids lead to no request
)

// associate gives calls of strands that serve one request at a time to that request.
// Calls of loops are left to the rules for loops.
func associate(t *Timeline, f *facts, work []made, o owners) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Strand == None || t.Strands[c.Strand].Loop || c.Why != "" {
			continue
		}
		r := o.at(c.Strand, c.SendFrom)
		if c.SendFrom == recording.NoTime {
			r = o.at(c.Strand, c.Start)
		}
		if r == None {
			t.assign(c, None, WhyNoOwner)
			continue
		}
		rule := WhyThread
		if t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			rule = WhyGoroutine
		}
		t.assign(c, r, rule)
		if c.Start < t.Requests[r].FirstRead {
			warmed(c, &work[i].bounds)
		}
	}
}

// associateLoops associates the calls of loop strands: by Node's async ids where they
// were recorded, else only where one request was open.
func associateLoops(t *Timeline, f *facts, calls []made, moves []loopMoves) (wanted []Time) {
	wanted = make([]Time, len(t.Calls))
	chains, conns, hands := newChains(len(t.Calls)), make([]asyncConn, len(f.conns)), newAsked(len(t.Calls))
	alone := map[recording.ProcessID][]loopMoves{} // loops without ids
	for _, loop := range moves {
		if hasAsyncIDs(loop.moves) {
			in := asyncInput{loop: loop, wanted: wanted, chains: chains, conns: conns, hands: hands, sure: map[CallID]bool{}, atOnce: map[string]int{}, named: namedPromises(t, loop.moves)}
			associateAsync(t, f, in)
			associateLeft(t, in)
			associateShared(t, f, in)
			associateAwaited(t, in)
		} else {
			associateSingle(t, loop)
			p := t.Strands[loop.strand].Process
			alone[p] = append(alone[p], loop)
		}
	}
	for _, loops := range alone {
		associateChain(t, loops)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Why == "" {
			t.assign(c, c.Request, WhyNoOwner)
		}
		if c.Request != None && c.Start < t.Requests[c.Request].FirstRead {
			warmed(c, &calls[i].bounds)
		}
		if c.Request != None && c.Start < t.Requests[c.Request].FirstRead {
			t.assign(c, None, WhyNoOwner)
		}
	}
	return wanted
}

// warmed makes a call on a connection that was opened before its request came one on
// a reused connection: opening it cost this request nothing.
func warmed(c *Call, b *bounds) {
	c.New = false
	c.Start = recording.NoTime
	c.DNSFrom, c.DNSTo, c.Unanswered = recording.NoTime, recording.NoTime, 0
	c.ConnectFrom, c.Connected = recording.NoTime, recording.NoTime
	c.TLSFrom, c.TLSTo = recording.NoTime, recording.NoTime
	settle(c, b)
}
