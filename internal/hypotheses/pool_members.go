package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// toldUses is how many things that members of a pool are used for are told, each with a tenth of
// the time in which others wait for one.
const toldUses = 2

// usedFor says what those who have a member of a pool do with it while others wait; "" if that is
// not known of most of it.
func (k *contention) usedFor(c *diagnosis.Case) string {
	if 2*k.known() < k.total {
		return ""
	}
	did := tally{}
	var all Duration
	for i, d := range k.weights {
		all += d
		if words := holderWords(c, &k.did[i]); words != "" {
			did[words] += d
		}
	}
	var uses []string
	for words, d := range did {
		if 10*d >= all && all > 0 {
			uses = append(uses, words)
		}
	}
	slices.SortFunc(uses, func(a, b string) int { return cmp.Or(cmp.Compare(did[b], did[a]), cmp.Compare(a, b)) })
	text := ""
	for i, words := range uses[:min(toldUses, len(uses))] {
		sep := "; whoever has one "
		if i > 0 {
			sep = " and "
		}
		text += sep + words + " for " + diagnosis.Percent(diagnosis.ShareOf(int64(did[words]), int64(all)))
	}
	if text != "" {
		text += " of that time"
	}
	return text
}

// holderWords says what a holder does, "" if that is not known.
func holderWords(c *diagnosis.Case, d *deed) string {
	switch {
	case d.cause == timeline.CauseOnCPU || d.cause == timeline.CauseRunnable:
		return "computes"
	case d.call != timeline.None:
		return "waits for " + c.Calls[d.call].Peer
	case d.cause == timeline.CauseSleep:
		if f, found := c.SiteOf(d.stack); found {
			return "sleeps in " + symbol.Place(f)
		}
		return "sleeps until a timer"
	case d.cause == timeline.CauseDisk:
		return "waits for a disk"
	}
	return ""
}

// turnOf is a place of a call on its connection.
type turnOf struct {
	conn    recording.ConnID
	ordinal int
}

// givenBack reports that a wait lasted until another call gave back the very connection that it was for.
func givenBack(c *diagnosis.Case, on map[turnOf]timeline.CallID, call *timeline.Call, s *stay) bool {
	id, known := on[turnOf{call.Conn, call.Ordinal - 1}]
	if !known {
		return false
	}
	before := &c.Calls[id]
	return before.Request != s.Request && before.End > s.From && apart(Duration(before.End), Duration(s.To)) <= handedOn
}
