package loops

import "github.com/getdwell/dwell/internal/timeline"

// Owner names whom a loop works for: a request, or the request of a call whichever that
// is.
type Owner int32

// Nobody is the Owner of what is nobody's, or whose is not known.
const Nobody Owner = -1

// OfRequest is a request as an Owner.
func OfRequest(r timeline.RequestID) Owner { return Owner(r) }

// OfCall is the request of a call, whichever that is.
func OfCall(c timeline.CallID) Owner { return -2 - Owner(c) }

// Request is the request that is named; false if a call's is.
func (r Owner) Request() (timeline.RequestID, bool) { return timeline.RequestID(r), r >= 0 }

// Call is the call whose request is named; false if that is named itself.
func (r Owner) Call() (timeline.CallID, bool) { return timeline.CallID(-2 - r), r <= -2 }

// Whose says whom a move itself is known to be for.
func (m *Move) Whose() Owner {
	switch {
	case m.Kind == MoveFired:
		return m.By
	case m.Request != timeline.None:
		return OfRequest(m.Request)
	case m.Call != timeline.None:
		return OfCall(m.Call)
	}
	return Nobody
}

// Callback reports a move that was made by a callback, rather than by the loop on the
// way to one.
func (m *Move) Callback() bool {
	switch m.Kind {
	case MoveConnect, MoveSend, MoveRespond, MoveAside, MoveAlong, MovePost:
		return true
	case MoveHandshake:
		return m.Exec != 0
	}
	return false
}
