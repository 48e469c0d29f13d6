package timeline

// Certainty is what the assignment of a call to its request rests on.
type Certainty int8

// Certainties, the strongest first.
const (
	Told       Certainty = iota // a fact names the request: its thread, goroutine, id, context, or who woke whom
	Ordered                     // the order of a queue or pool, or that no other request was open
	Usual                       // what usually follows what on an event loop
	Unassigned                  // no request is known
)

// String returns the name in the JSON contract.
func (c Certainty) String() string {
	return [...]string{"told", "ordered", "usual", "none"}[c]
}

// Certainty returns what the call's assignment to its request rests on.
func (c *Call) Certainty() Certainty {
	if c.Request == None {
		return Unassigned
	}
	switch c.Why {
	case WhyInLine, WhyShared, WhyHandOffOrder, WhyHandOffOnly, WhyLoopSingle:
		return Ordered
	case WhyAsyncHint, WhyTurnTold, WhyTurn, WhyAwaitedSet, WhyLoopChain:
		return Usual
	}
	return Told
}

// NeverConnected is the Excluded reason of a call whose connection was never established: nothing was asked.
const NeverConnected = "failed"

// Failed reports whether the call's connection was never established.
func (c *Call) Failed() bool { return c.Excluded == NeverConnected }
