package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// went is what somebody was seen to do in a turn, who may have asked for more.
type went int8

const (
	wentNowhere went = iota
	wentAside        // calls on connections of its own were sent
	wentOn           // calls on shared connections were
	wentLater        // calls were sent in a later turn
)

// habit is where a request is in what it does: requests of one kind that have come to the
// same point mostly go on in the same way.
type habit struct {
	endpoint string
	steps    int8   // how often it went on
	last     string // operation that was answered last
	woke     bool   // a timer fired that it waited for since
	answers  int8   // how many calls were answered since it went on with none under way
	some     bool   // others are still
	over     bool   // its response is written in the same turn
	again    went   // what it was seen to do in it
}

// after is the habit of a request of which a call was answered, and so many are still under way.
func (h habit) after(c *timeline.Call, left int) habit {
	h.last, h.woke, h.some, h.again = c.Operation, false, left > 0, wentNowhere
	return h
}

// usual is how many calls a request is taken to send where nothing is known of that.
func (h habit) usual() int {
	if h.over || h.some {
		return 0
	}
	return 1
}

// saw notes how many calls requests at some points sent together; loose: or others did.
func saw(counts *causality.Counts[habit], points []habit, calls int, loose bool) {
	if !slices.ContainsFunc(points, func(h habit) bool { return h.endpoint == "" }) {
		counts.Saw(points, calls, loose)
	}
}
