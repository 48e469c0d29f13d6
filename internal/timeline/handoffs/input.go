package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
)

// Input is what rules for whose a call is go by, besides the Timeline and the facts so far.
type Input struct {
	Requests []exchange.Request
	Calls    []exchange.Call
	Owners   timeline.Stints
	Contexts *contexts
}
