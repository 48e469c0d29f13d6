package hypotheses

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// eachCallStack visits the stacks with which strands waited for the answers of calls; those of one call follow each
// other. It looks at a limited number of calls. Calls on a loop are left out: that the loop waits says nothing of who
// made the call.
func eachCallStack(c *diagnosis.Case, calls []timeline.CallID, visit func(id timeline.CallID, a *timeline.Activity)) {
	if len(c.Stacks) == 0 {
		return
	}
	step := max(1, len(calls)/lookedAt)
	for i := 0; i < len(calls); i += step {
		k := &c.Calls[calls[i]]
		if k.Strand == timeline.None || c.Strands[k.Strand].Loop {
			continue
		}
		for _, a := range c.Doing(k.Strand, k.Start, k.End) {
			if a.Syscall != "" && a.Call == k.ID && !a.Later && a.Stack != timeline.None {
				visit(k.ID, &a)
			}
		}
	}
}

// calledIn says where in the service's own code calls are made, to follow what is said of them. It names the line, or
// only the function if goroutines wait for the answers. "" if too few have a stack.
func calledIn(c *diagnosis.Case, calls []timeline.CallID) string {
	at, seen, last := lined{}, 0, timeline.CallID(timeline.None)
	eachCallStack(c, calls, func(id timeline.CallID, a *timeline.Activity) {
		for _, f := range c.StackFrames(a.Stack) {
			if symbol.Application(f) {
				at.add(c, f, a.To.Sub(a.From))
				if id != last {
					seen, last = seen+1, id
				}
				return
			}
		}
	})
	f, found := at.most()
	if !found || seen < fewStacks {
		f, found = readIn(c, calls)
	}
	if !found {
		return ""
	}
	return ", called in " + symbol.Place(f)
}

// madeIn is calledIn to follow a noun.
func madeIn(c *diagnosis.Case, calls []timeline.CallID) string {
	return strings.TrimPrefix(calledIn(c, calls), ", called")
}

// readIn says in which function of the service's own code goroutines are as calls are answered. It is the function of
// most of those that hand something over while a call of theirs is under way, or right after, as the goroutine that
// reads an answer of net/http does. False if too few do.
func readIn(c *diagnosis.Case, calls []timeline.CallID) (recording.Frame, bool) {
	by, in, seen := tally{}, map[string]recording.Frame{}, 0
	step := max(1, len(calls)/lookedAt)
	for i := 0; i < len(calls); i += step {
		k := &c.Calls[calls[i]]
		if k.Request == timeline.None {
			continue
		}
		x, ok := c.LetsGo(c.Requests[k.Request].Strand, k.Start)
		if !ok || x.Time > k.End+diagnosis.Time(k.End.Sub(k.Start)/8) {
			continue
		}
		frames := c.StackFrames(x.Stack)
		if at := slices.IndexFunc(frames, symbol.Application); at >= 0 {
			f := frames[at]
			f.Line = 0 // the line may be another than that of the call
			seen++
			by[symbol.Name(f)]++
			in[symbol.Name(f)] = f
		}
	}
	name, share := by.most()
	return in[name], seen >= fewStacks && share > diagnosis.Whole/2
}

// onePath returns the share of calls that one path through the code makes: all frames of the runtime's language are the
// same, lines included. It is 0 if too few have a stack.
func onePath(c *diagnosis.Case, calls []timeline.CallID) diagnosis.Share {
	by, seen, most, last := map[string]int{}, 0, 0, timeline.CallID(timeline.None)
	var key []byte
	eachCallStack(c, calls, func(id timeline.CallID, a *timeline.Activity) {
		key = key[:0]
		for _, f := range c.StackFrames(a.Stack) {
			if f.Type != recording.FrameNative && f.Type != recording.FrameKernel {
				key = binary.AppendVarint(key, int64(f.ID))
			}
		}
		if id == last || len(key) == 0 {
			return
		}
		seen, last = seen+1, id
		by[string(key)]++
		most = max(most, by[string(key)])
	})
	if seen < fewStacks {
		return 0
	}
	return diagnosis.ShareOf(int64(most), int64(seen))
}

// fewStacks is how many calls with a stack are needed to say where calls are made.
const fewStacks = 3
