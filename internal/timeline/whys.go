package timeline

// Why a call was associated, or not: stable codes in Call.Why.
const (
	WhyThread     = "thread"         // its thread was serving that request and no other
	WhyGoroutine  = "goroutine"      // written on the request's own goroutine
	WhyGoCall     = "go-call"        // the request's goroutine handed it to a pooled connection
	WhyGoChild    = "go-child"       // made by a goroutine that the request's goroutine started
	WhyGoDial     = "go-dial"        // a new connection, dialled from the request's goroutine
	WhyAsync      = "async-id"       // Node's async ids lead to the request
	WhyAsyncHint  = "async-turn"     // made and answered in turns of that request, as far as the ids show
	WhyTurnTold   = "told-turn"      // sent in a turn of that request, if Node reports whose each turn is
	WhyTurn       = "loop-turn"      // sent in the turn of an answer to a call of that request
	WhyAwaitedSet = "awaited-set"    // one waiter awaits it and other calls, most of which are that request's
	WhyInLine     = "pool-order"     // the request stood first in line for a connection of the pool that was full
	WhyShared     = "shared-order"   // several requests sent on one connection; by the order in which they could have sent
	WhyLoopSingle = "loop-single"    // the only request open on that loop
	WhyLoopChain  = "loop-chain"     // what the loop read right before leads to the request, and the loop's responses confirm it
	WhyNoOwner    = "no-owner"       // no request was being served there
	WhyReused     = "go-reused"      // Go, on a pooled connection: which request is not known
	WhyAmbiguous  = "loop-ambiguous" // several requests were open on that loop
	WhyAwaited    = "awaited"        // the request waits for the promise that its answer resolved
	WhyContext    = "context"        // Python: sent in the request's context, or in a copy made for it
	WhyNoContext  = "no-context"     // Python: sent in a context that belongs to no open request
	WhyNoAsync    = "async-unowned"  // Node's async ids lead to no request
)

// Why a call was associated with a request that another strand read, or not: stable codes in Call.Why.
const (
	WhyHandOff          = "hand-off"           // on a strand that a strand working for the request had woken for work, or met at a channel
	WhyHandOffEnd       = "hand-off-end"       // on a strand that then delivered a result to the request's own strand
	WhyHandOffAnswer    = "hand-off-answer"    // on a strand that carries calls for others: its answer was delivered to the request's own strand
	WhyHandOffOnly      = "hand-off-only"      // on a strand that works for others, while one request was open
	WhyHandOffOrder     = "hand-off-order"     // on a strand that works for others: by the order of the queue, no other request can have put it in
	WhyHandOffTaken     = "hand-off-taken"     // Python: on a strand that worked on an item the request had queued; no request if it was over by then
	WhyHandOffAmbiguous = "hand-off-ambiguous" // on a strand that works for others: for which request is not known
)
