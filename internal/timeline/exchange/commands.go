package exchange

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// inOrder sorts commands or replies by the position of their bytes: a recorder that finds them late may write them
// late.
func inOrder[T any](list []*T, offset func(*T) int64) {
	by := func(a, b *T) int { return cmp.Compare(offset(a), offset(b)) }
	if !slices.IsSortedFunc(list, by) {
		slices.SortStableFunc(list, by)
	}
}

// commandExchanges pairs the commands and replies of a connection: first in, first out, without the replies that could
// not be identified.
func commandExchanges(c *facts.Conn) []exchange {
	inOrder(c.Commands, func(x *recording.Command) int64 { return x.Offset })
	inOrder(c.Replies, func(x *recording.Reply) int64 { return x.Offset })
	out := make([]exchange, len(c.Commands))
	asks := reader{chunks: c.Chunks[recording.Write]}
	for i, x := range c.Commands {
		next := int64(endless)
		if i+1 < len(c.Commands) {
			next = c.Commands[i+1].Offset
		}
		e := extentTo(x.Offset, next, x.Length)
		if e.to == endless {
			e.until = answeredFrom(c, x.Offset)
		}
		out[i] = exchange{ordinal: i, command: x, asked: asks.message(e)}
	}
	pairReplies(c, out)
	last := lastRead(c)
	for i := range out {
		x := &out[i]
		x.unpaired = x.reply == nil && !x.asked.None() && last > x.asked.end
	}
	return out
}

// answeredFrom returns when a read followed the write that contains a byte; NoTime if none did.
func answeredFrom(c *facts.Conn, offset int64) recording.Time {
	writes := c.Chunks[recording.Write]
	i := sort.Search(len(writes), func(k int) bool { return writes[k].End() > offset })
	if i == len(writes) {
		return recording.NoTime
	}
	reads := c.Chunks[recording.Read]
	k := sort.Search(len(reads), func(k int) bool { return reads[k].First() > writes[i].First() })
	if k == len(reads) {
		return recording.NoTime
	}
	return reads[k].First()
}

// pairReplies gives each reply to the oldest command that has none.
func pairReplies(c *facts.Conn, out []exchange) {
	answers := reader{chunks: c.Chunks[recording.Read]}
	i := 0
	for j, x := range c.Replies {
		next := int64(endless)
		if j+1 < len(c.Replies) {
			next = c.Replies[j+1].Offset
		}
		e := extentTo(x.Offset, next, x.Length)
		i += int(min(max(x.Skipped, 0), int64(len(out)-i)))
		if i < len(out) && !e.sure {
			e.until = nextAsked(out[i+1:], readOf(c, x.Offset))
		}
		m := answers.message(e)
		if i >= len(out) || m.None() || m.Begin < out[i].asked.Begin {
			continue // to a command that was not recorded
		}
		out[i].reply, out[i].replied = x, m
		i++
	}
}

// readOf returns when the byte at a position was read; NoTime if it was not.
func readOf(c *facts.Conn, offset int64) recording.Time {
	reads := c.Chunks[recording.Read]
	i := sort.Search(len(reads), func(k int) bool { return reads[k].End() > offset })
	if i == len(reads) {
		return recording.NoTime
	}
	return reads[i].At
}

// nextAsked returns when the first of these commands that followed a time was sent: by then the client had read the
// earlier answers. It returns NoTime if there is none.
func nextAsked(later []exchange, after recording.Time) recording.Time {
	i := sort.Search(len(later), func(k int) bool { return later[k].asked.Begin > after })
	if i == len(later) {
		return recording.NoTime
	}
	return later[i].asked.Begin
}

// lastRead returns when bytes were last read; NoTime if never.
func lastRead(c *facts.Conn) recording.Time {
	for _, r := range slices.Backward(c.Chunks[recording.Read]) {
		if r.Bytes > 0 {
			return r.At
		}
	}
	return recording.NoTime
}

// noteUnpaired notes how many calls have no reply because it could not be identified.
func noteUnpaired(t *timeline.Timeline) {
	n := int64(0)
	for i := range t.Calls {
		if t.Calls[i].Excluded == Unpaired {
			n++
		}
	}
	if n > 0 {
		t.Missing = append(t.Missing, recording.Missing{
			What: "unpaired-replies", Count: n,
			Why: "replies to calls that were under way at once could not be told apart: those calls have no duration",
		})
	}
}

// Unpaired is the Excluded reason of a call whose reply could not be identified.
const Unpaired = "unpaired"

// nameCommand copies what a call's command and reply say.
func nameCommand(f *facts.Facts, call *timeline.Call, x *exchange) {
	call.Operation = x.command.Operation
	if call.Operation == "" && x.reply != nil {
		call.Operation = x.reply.Operation
	}
	if x.command.Target != "" {
		call.Operation = f.Endpoint(call.Operation, x.command.Target)
	}
	if x.reply != nil {
		call.Outcome, call.Code, call.Transaction = x.reply.Outcome, x.reply.Code, x.reply.Transaction
	}
}

// excludeWaiting excludes calls from quantiles that wait for something to happen at the peer.
func excludeWaiting(call *timeline.Call, operation string) {
	switch operation {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "WAIT", "WAITAOF":
		call.Excluded = "long-poll"
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC":
		call.Excluded = "stream"
	}
}
