package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// hooks are those a loss is known not to reach beyond.
var hooks = []string{
	recording.HookSched, recording.HookWakings, recording.HookProcesses, recording.HookSockets, recording.HookIO,
	recording.HookArrivals, recording.HookDNS, recording.HookTLS, recording.HookGoroutines,
	recording.HookAsync, recording.HookBoundaries, recording.HookSamples, recording.HookHost,
}

// concerns reports whether facts that a hook lost matter to what needs some hooks. A
// loss whose hook is no known one concerns all.
func concerns(hook string, needs []string) bool {
	return slices.Contains(needs, hook) || !slices.Contains(hooks, hook)
}

// lossy says of every request whether facts that a hypothesis needs were lost while it
// ran; nil if none were.
func (j *judge) lossy(needs []string) []bool {
	var lost [][2]Time
	for _, l := range j.Losses {
		if concerns(l.Hook, needs) {
			lost = append(lost, [2]Time{l.From, l.To})
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.SortFunc(lost, func(a, b [2]Time) int { return cmp.Compare(a[0], b[0]) })
	merged := lost[:1]
	for _, l := range lost[1:] {
		if last := &merged[len(merged)-1]; l[0] <= last[1] {
			last[1] = max(last[1], l[1])
		} else {
			merged = append(merged, l)
		}
	}
	out := make([]bool, len(j.Requests))
	for i := range j.Requests {
		r := &j.Requests[i]
		k, _ := slices.BinarySearchFunc(merged, r.Start, func(l [2]Time, at Time) int { return cmp.Compare(l[1], at) })
		out[i] = k < len(merged) && merged[k][0] <= r.End
	}
	return out
}

// losses counts, by hook, the facts that were lost while measured requests ran.
func (j *judge) losses() map[string]int64 {
	by := map[string]int64{}
	for _, l := range j.Losses {
		for _, id := range j.Overall.Requests {
			if r := &j.Requests[id]; r.Start <= l.To && l.From <= r.End {
				by[l.Hook] += l.Count
				break
			}
		}
	}
	return by
}

// unseen says which losses keep a hypothesis from being refuted.
func (j *judge) unseen(t *trial) string {
	var n int64
	for hook, count := range j.lost {
		if concerns(hook, t.Needs) {
			n += count
		}
	}
	if n == 0 {
		return ""
	}
	return Plural(int(n), "fact") + " lost while requests ran"
}
