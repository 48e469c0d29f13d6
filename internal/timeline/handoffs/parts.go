package handoffs

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// partList lists the parts of requests that were done by strands which had not read them.
type partList struct {
	*activity
	parts [][]timeline.Handover // by request
}

// add lists that a strand worked for a request in a span, and which strand had handed that over.
func (h *partList) add(r timeline.RequestID, p timeline.Part, by timeline.StrandID) {
	h.parts[r] = append(h.parts[r], timeline.Handover{Part: p, By: by})
}

// addParts lists the spans in which a job's strand worked for requests: around their calls, from what came before to
// what came after.
func (h *partList) addParts(j *job) {
	for i := 0; i < len(j.calls); {
		r := h.t.Calls[j.calls[i]].Request
		n := i + 1
		for n < len(j.calls) && h.t.Calls[j.calls[n]].Request == r {
			n++
		}
		if r != timeline.None && h.takingFor(j.calls[i]) == timeline.None {
			from, by := h.partFrom(j, i, r)
			h.add(r, timeline.Part{Strand: j.strand, From: from, To: h.partTo(j, n, r)}, by)
		}
		i = n
	}
	h.addAnswers(j)
	h.addTold(j)
}

// addAnswers lists the spans in which a job's strand answered requests that another strand had read: since what it
// did before.
func (h *partList) addAnswers(j *job) {
	for k, x := range j.results {
		if !x.answer {
			continue
		}
		r := &h.t.Requests[x.request]
		if list := h.parts[r.ID]; len(list) > 0 && list[len(list)-1].Strand == j.strand && list[len(list)-1].To >= x.at {
			continue
		}
		p, by := timeline.Part{Strand: j.strand, From: j.from, To: x.at}, timeline.StrandID(timeline.None)
		if k == 0 && x.calls == 0 && j.claim == r.ID {
			by = j.by
		}
		if x.calls > 0 {
			p.From = h.t.Calls[j.calls[x.calls-1]].End
		}
		if k > 0 {
			p.From = max(p.From, j.results[k-1].at)
		}
		h.add(r.ID, p, by)
	}
}

// partFrom is when a strand turned to the task of the i-th call of a job: when it was woken for it, or done with the
// task before. It also returns the strand that woke it.
func (h *partList) partFrom(j *job, i int, r timeline.RequestID) (recording.Time, timeline.StrandID) {
	if i == 0 && (j.claim == r || j.by != timeline.None && len(j.calls) == 1) {
		by := timeline.StrandID(timeline.None)
		if j.claim == r {
			by = j.by
		}
		return j.from, by
	}
	return h.turnedTo(j, i), timeline.None
}

// partTo is when the strand was done with the task of call n-1.
func (h *partList) partTo(j *job, n int, r timeline.RequestID) recording.Time {
	to := j.to
	if n < len(j.calls) {
		to = h.sent(j.calls[n])
	}
	last := min(h.t.Calls[j.calls[n-1]].End, to)
	for _, x := range j.results {
		if x.calls == n && x.at <= to {
			if x.request == r {
				return x.at
			}
			return last
		}
	}
	if n < len(j.calls) {
		return last
	}
	return to
}

// settle sorts the parts of each request, cuts them to the request's span, and adds them to the request.
func (h *partList) settle() [][]timeline.Handover {
	h.separate()
	for i := range h.parts {
		r := &h.t.Requests[i]
		list := h.parts[i]
		for k := range list {
			p := &list[k]
			p.From = min(max(p.From, r.FirstRead), r.End)
			p.To = min(max(p.To, p.From), r.End)
		}
		list = slices.DeleteFunc(list, func(p timeline.Handover) bool { return p.From >= p.To })
		slices.SortFunc(list, func(a, b timeline.Handover) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Strand, b.Strand))
		})
		h.parts[i] = list
		for _, p := range list {
			more := r.More()
			more.Parts = append(more.Parts, p.Part)
		}
	}
	return h.parts
}

// separate ends each part of a strand where the next one begins.
func (h *partList) separate() {
	on := make([][]*timeline.Handover, len(h.t.Strands))
	for _, list := range h.parts {
		for k := range list {
			on[list[k].Strand] = append(on[list[k].Strand], &list[k])
		}
	}
	for _, list := range on {
		slices.SortFunc(list, func(a, b *timeline.Handover) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
		for k := 1; k < len(list); k++ {
			list[k-1].To = min(list[k-1].To, list[k].From)
		}
	}
}
