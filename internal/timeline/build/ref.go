package build

import "github.com/getdwell/dwell/internal/timeline"

// ref names whom a loop works for: a request, or the request of a call whichever that
// is.
type ref int32

const nobody ref = -1

func requestRef(r timeline.RequestID) ref { return ref(r) }
func callRef(c timeline.CallID) ref       { return -2 - ref(c) }

func (r ref) request() (timeline.RequestID, bool) { return timeline.RequestID(r), r >= 0 }
func (r ref) call() (timeline.CallID, bool)       { return timeline.CallID(-2 - r), r <= -2 }
