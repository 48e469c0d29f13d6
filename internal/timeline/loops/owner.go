package loops

import "github.com/getdwell/dwell/internal/timeline"

// Owner names what a loop works for: a request, or the request of a call whose request is not known yet.
type Owner int32

// Nobody is the Owner of what belongs to no request, or to an unknown one.
const Nobody Owner = -1

// OfRequest returns a request as an Owner.
func OfRequest(r timeline.RequestID) Owner { return Owner(r) }

// OfCall returns the request of a call, whichever that is, as an Owner.
func OfCall(c timeline.CallID) Owner { return -2 - Owner(c) }

// Request is the request that is named; false if the Owner names a call's request.
func (r Owner) Request() (timeline.RequestID, bool) { return timeline.RequestID(r), r >= 0 }

// Call is the call whose request is named; false if the Owner names a request, or is Nobody.
func (r Owner) Call() (timeline.CallID, bool) { return timeline.CallID(-2 - r), r <= -2 }

// Whose returns the owner that is known from the move itself.
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

// Callback reports whether a move was made by a callback, rather than by the loop on the way to one.
func (m *Move) Callback() bool {
	switch m.Kind {
	case MoveConnect, MoveSend, MoveRespond, MoveAside, MoveAlong, MovePost:
		return true
	case MoveHandshake:
		return m.Exec != 0
	}
	return false
}
