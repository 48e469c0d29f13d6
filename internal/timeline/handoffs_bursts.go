package timeline

import "github.com/getdwell/dwell/recording"

// findBursts finds until when each request may have handed work over: until its strand
// waits for a result, for sure, and not for a lock that a worker happens to hold. Where
// strands hand over after that too, until the request's end.
func (h *handOffs) findBursts() {
	h.bursts = make([]Time, len(h.t.Requests))
	for i := range h.bursts {
		h.bursts[i] = h.t.Requests[i].End
	}
	h.eachJob(func(j *job) {
		for _, x := range j.results {
			if x.sure && !x.answer {
				h.bursts[x.request] = min(h.bursts[x.request], x.since)
			}
		}
	})
	all, late := map[recording.ProcessID]int{}, map[recording.ProcessID]int{}
	h.eachJob(func(j *job) {
		if j.by == None || len(j.calls) == 0 {
			return
		}
		if r := h.o.at(j.by, j.from); r != None {
			all[h.t.Requests[r].Process]++
			if j.from > h.bursts[r] {
				late[h.t.Requests[r].Process]++
			}
		}
	})
	for i := range h.bursts {
		if p := h.t.Requests[i].Process; late[p]*exceptions > all[p] {
			h.bursts[i] = h.t.Requests[i].End
		}
	}
}
