package timeline

// ref names whom a loop works for: a request, or the request of a call whichever that
// is.
type ref int32

const nobody ref = -1

func requestRef(r RequestID) ref { return ref(r) }
func callRef(c CallID) ref       { return -2 - ref(c) }

func (r ref) request() (RequestID, bool) { return RequestID(r), r >= 0 }
func (r ref) call() (CallID, bool)       { return CallID(-2 - r), r <= -2 }
