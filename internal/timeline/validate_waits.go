package timeline

import (
	"cmp"
	"slices"
)

// waits checks the invariants of waits, locks and stacks:
//
//   - callers of stacks come before them, and ids lie within their lists;
//   - a strand's stacks are in order, its Waits in order and disjoint, and each Wait is
//     listed by its strand, and by its Lock if it has one;
//   - Holds lie within their Wait, in order and disjoint, and never belong to the waiting strand.
func (v *validator) waits() {
	t := v.t
	for i, s := range t.Stacks {
		if s.Caller >= StackID(i) || s.Caller < None || s.Frame < 0 || int(s.Frame) >= len(t.Frames) {
			v.failf("stack %d has caller %d and frame %d", i, s.Caller, s.Frame)
		}
	}
	listed := 0
	for i := range t.Strands {
		v.strandWaits(StrandID(i))
		listed += len(t.Strands[i].Waits)
	}
	if listed != len(t.Waits) {
		v.failf("strands list %d waits, there are %d", listed, len(t.Waits))
	}
	for i := range t.Waits {
		v.wait(WaitID(i))
		if i > 0 && t.Waits[i-1].From > t.Waits[i].From {
			v.failf("wait %d begins before wait %d", i, i-1)
		}
	}
	locked := 0
	for i := range t.Locks {
		for _, w := range t.Locks[i].Waits {
			if int(w) >= len(t.Waits) || t.Waits[w].Lock != LockID(i) {
				v.failf("lock %d lists wait %d, which is not for it", i, w)
			}
		}
		locked += len(t.Locks[i].Waits)
	}
	for i := range t.Waits {
		if t.Waits[i].Lock != None {
			locked--
		}
	}
	if locked != 0 {
		v.failf("locks list %d waits more than are for one", locked)
	}
}

func (v *validator) strandWaits(id StrandID) {
	s := &v.t.Strands[id]
	for k := range s.Stacks {
		if k > 0 && s.Stacks[k].Time < s.Stacks[k-1].Time || s.Stacks[k].Stack < 0 || int(s.Stacks[k].Stack) >= len(v.t.Stacks) {
			v.failf("strand %d: stack %d is out of order or does not exist", id, k)
		}
	}
	for k, w := range s.Waits {
		if w < 0 || int(w) >= len(v.t.Waits) || v.t.Waits[w].Strand != id {
			v.failf("strand %d lists wait %d, which is another's", id, w)
			return
		}
		if k > 0 && v.t.Waits[s.Waits[k-1]].Back > v.t.Waits[w].From {
			v.failf("strand %d: wait %d begins before the one before it ends", id, w)
		}
	}
}

func (v *validator) wait(id WaitID) {
	t, w := v.t, &v.t.Waits[id]
	if w.From >= w.To || w.To > w.Back || w.From < t.Start || w.Back > t.End {
		v.failf("wait %d [%d, %d), back at %d, is empty or lies outside the recording", id, w.From, w.To, w.Back)
	}
	if w.Cause < 0 || w.Cause >= NumCauses || w.Off == nil || w.Stack < None || int(w.Stack) >= len(t.Stacks) ||
		w.Lock < None || int(w.Lock) >= len(t.Locks) || w.Request < None || int(w.Request) >= len(t.Requests) {
		v.failf("wait %d has cause %d, stack %d, lock %d, request %d", id, w.Cause, w.Stack, w.Lock, w.Request)
	}
	at := w.From
	for k, h := range w.Holds {
		if h.Strand < 0 || int(h.Strand) >= len(t.Strands) || h.Strand == w.Strand {
			v.failf("wait %d: hold %d is by strand %d", id, k, h.Strand)
		}
		if h.From < at || h.From >= h.To || h.To > w.To || h.Since > h.From {
			v.failf("wait %d [%d, %d): hold %d [%d, %d) since %d overlaps, is empty or sticks out", id, w.From, w.To, k, h.From, h.To, h.Since)
		}
		at = h.To
	}
}

// parts checks that the parts of requests lie within them, and that no strand worked for two requests at once.
func (v *validator) parts() {
	type worked struct {
		from, to Time
		request  RequestID
	}
	on := make([][]worked, len(v.t.Strands))
	for i := range v.t.Requests {
		r := &v.t.Requests[i]
		for k, p := range r.Parts {
			if p.Strand < 0 || int(p.Strand) >= len(v.t.Strands) {
				v.failf("request %d: part %d is on strand %d, which does not exist", i, k, p.Strand)
				continue
			}
			if p.From < r.FirstRead || p.From >= p.To || p.To > r.End {
				v.failf("request %d: part %d [%d, %d) is empty or sticks out", i, k, p.From, p.To)
			}
			if k > 0 && r.Parts[k-1].From > p.From {
				v.failf("request %d: part %d begins before the one before it", i, k)
			}
			on[p.Strand] = append(on[p.Strand], worked{p.From, p.To, RequestID(i)})
		}
	}
	for s, list := range on {
		slices.SortFunc(list, func(a, b worked) int { return cmp.Compare(a.from, b.from) })
		for k := 1; k < len(list); k++ {
			if list[k].from < list[k-1].to {
				v.failf("strand %d works for requests %d and %d at once", s, list[k-1].request, list[k].request)
			}
		}
	}
}
