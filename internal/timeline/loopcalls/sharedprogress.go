package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// turnActivity is what an owner was seen to send in a turn; it may have asked for more.
type turnActivity int8

const (
	nothingSent turnActivity = iota
	sentAside                // calls on connections of its own were sent
	sentShared               // calls on shared connections were
	sentLater                // calls were sent in a later turn
)

// progress is where a request is in what it does: requests of one kind that have come to the
// same point mostly go on in the same way.
type progress struct {
	endpoint string
	steps    int8         // how often it went on
	last     string       // operation that was answered last
	woke     bool         // a timer fired that it waited for since
	answers  int8         // how many calls were answered since it went on with none under way
	some     bool         // others are still
	over     bool         // its response is written in the same turn
	again    turnActivity // what it was seen to do in it
}

// after is the progress of a request of which a call was answered, and so many are still under way.
func (h progress) after(c *timeline.Call, left int) progress {
	h.last, h.woke, h.some, h.again = c.Operation, false, left > 0, nothingSent
	return h
}

// usual is how many calls a request is taken to send where nothing is known of that.
func (h progress) usual() int {
	if h.over || h.some {
		return 0
	}
	return 1
}

// saw notes how many calls requests at some points sent together; loose: or others did.
func saw(counts *causality.Counts[progress], points []progress, calls int, loose bool) {
	if !slices.ContainsFunc(points, func(h progress) bool { return h.endpoint == "" }) {
		counts.Saw(points, calls, loose)
	}
}
