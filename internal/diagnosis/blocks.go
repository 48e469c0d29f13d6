package diagnosis

import (
	"github.com/getdwell/dwell/internal/timeline"
)

const (
	// mostBlocks bounds into how many blocks an endpoint's requests are cut.
	mostBlocks = 64
	// longBlock is how long a block is if requests overlap all the time: a second, or a tenth of a recording that is
	// shorter than ten seconds.
	longBlock  = 1000 * milli
	leastParts = 10
)

// quietTimes counts, up to each request, those that began while no other was in flight.
func quietTimes(tl *timeline.Timeline) []int32 {
	out := make([]int32, len(tl.Requests))
	var n int32
	var busy Time // until when
	for i := range tl.Requests {
		r := &tl.Requests[i]
		if r.Start >= busy {
			n++
		}
		busy = max(busy, r.End)
		out[i] = n
	}
	return out
}

// blocksOf cuts requests, in order of start, into blocks that are nearly independent of each other: a block begins
// where nothing was in flight, or after a second of requests that overlap. Neighbours are joined until there are no
// more than mostBlocks.
func blocksOf(tl *timeline.Timeline, ids []RequestID, quiet []int32) (blocks [][]RequestID) {
	if len(ids) == 0 {
		return nil
	}
	long := longBlock
	if all := tl.Requests[ids[len(ids)-1]].Start.Sub(tl.Requests[ids[0]].Start); all < leastParts*long {
		long = max(1, all/leastParts)
	}
	least := (len(ids) + mostBlocks - 1) / mostBlocks
	from, began := 0, tl.Requests[ids[0]].Start
	for i := 1; i < len(ids); i++ {
		at := tl.Requests[ids[i]].Start
		apart := quiet[ids[i]] > quiet[ids[i-1]] || at.Sub(began) >= long
		if apart && i-from >= least {
			blocks = append(blocks, ids[from:i])
			from, began = i, at
		}
	}
	return append(blocks, ids[from:])
}
