package timeline

import "github.com/getdwell/dwell/recording"

// A loop of asyncio that hands work to a thread wakes it in the context of the task that asked
// for that: so it is known for whom, though the loop serves many at once. Where threads take
// from one queue, who is woken may find that another was faster, and take the next one's: then
// that tells nothing.

// word is a futex of a process.
type word struct {
	process recording.ProcessID
	at      int64
}

// findQueues finds the words at which several strands waited for work.
func (h *handOffs) findQueues() {
	if h.contexts == nil {
		return
	}
	h.queues = map[word]StrandID{}
	h.eachJob(func(j *job) {
		if j.by == None || j.context == 0 {
			return
		}
		w := word{h.t.Strands[j.strand].Process, j.word}
		if s, known := h.queues[w]; known && s != j.strand {
			h.queues[w] = None
		} else if !known {
			h.queues[w] = j.strand
		}
	})
}

// tellsOf returns the request in whose context a job's strand was woken by a loop for work of
// its own, or None.
func (h *handOffs) tellsOf(j *job) RequestID {
	if h.contexts == nil || j.context == 0 || !h.contexts.loops[j.by] {
		return None
	}
	process := h.t.Strands[j.by].Process
	if h.queues[word{process, j.word}] != j.strand {
		return None
	}
	r, _ := h.contexts.owner(contextKey{process, j.context}, j.from)
	return r
}

// byContext: the only call of a job belongs to whoever the strand was woken for, and so do all
// if it waited for work again before that one was answered. Else it went on with another's.
func (h *handOffs) byContext(j *job, all []ruling) {
	if len(j.calls) > 1 && j.to > h.t.Requests[j.claim].End {
		return
	}
	for i := range all {
		all[i].say(j.claim, WhyHandOff)
	}
}

// addTold adds a job in which no call was made to the parts of the request that the strand was
// woken for.
func (h *handOffs) addTold(j *job) {
	if j.told && len(j.calls) == 0 && j.to <= h.t.Requests[j.claim].End {
		h.parts[j.claim] = append(h.parts[j.claim], handed{Part: Part{Strand: j.strand, From: j.from, To: j.to}, by: None})
	}
}
