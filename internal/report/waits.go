package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// shownWait is a wait of a thread: what for, where, and who held it meanwhile.
type shownWait struct {
	For     string        `json:"for,omitempty"` // a lock or pool
	Rule    string        `json:"rule"`          // code of the rule that determined the cause
	From    Duration      `json:"from_ns"`       // since the request's start
	To      Duration      `json:"to_ns"`
	Place   *Frame        `json:"place,omitempty"`          // in the code
	Placed  bool          `json:"place_borrowed,omitempty"` // Place comes from other waits with the stack at the same depth
	Holders []shownHolder `json:"holders,omitempty"`
}

// shownHolder is a thread that held what was waited for.
type shownHolder struct {
	Strand string      `json:"strand"`
	From   Duration    `json:"from_ns"` // since the request's start
	To     Duration    `json:"to_ns"`
	Basis  string      `json:"basis"` // release, owner or yield
	Doing  []shownDone `json:"doing"` // what took longest comes first
}

// shownDone is one thing that a thread did, or waited for, summed over a span.
type shownDone struct {
	Cause string   `json:"cause"`
	Took  Duration `json:"took_ns"`
	Peer  string   `json:"peer,omitempty"` // of the call it waited for
	For   string   `json:"for,omitempty"`  // the lock it waited for
	Place *Frame   `json:"place,omitempty"`
}

// waitOf returns the wait to which a segment belongs, or None.
func waitOf(tl *timeline.Timeline, s *timeline.Segment) timeline.WaitID {
	if s.Strand == timeline.None || s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CauseRunnable || s.Phase == timeline.PhaseUnread {
		return timeline.None
	}
	return tl.WaitAt(s.Strand, s.From)
}

func waitShown(tl *timeline.Timeline, id timeline.WaitID, start timeline.Time) *shownWait {
	w := &tl.Waits[id]
	out := &shownWait{Rule: w.Rule, From: w.From.Sub(start), To: w.To.Sub(start), Place: placeOf(tl, w.Stack), Placed: w.Borrowed}
	if w.Lock != timeline.None {
		out.For = tl.Locks[w.Lock].Name
	}
	for _, h := range w.Holds {
		out.Holders = append(out.Holders, shownHolder{
			Strand: strandName(tl, h.Strand), From: h.From.Sub(start), To: h.To.Sub(start), Basis: basisName(h.Basis), Doing: done(tl, h),
		})
	}
	return out
}

// placeOf returns the frame of a stack that best names its place, or nil without a stack.
func placeOf(tl *timeline.Timeline, id timeline.StackID) *Frame {
	if id == timeline.None {
		return nil
	}
	f := frameOf(tl, &tl.StackFrames(id)[siteIn(tl, id)])
	f.In = libraryOf(tl, id, f.Name)
	return &f
}

// libraryOf returns the innermost function of a stack that does not implement locks or waiting, if it is not the
// site.
func libraryOf(tl *timeline.Timeline, id timeline.StackID, site string) string {
	if f, ok := tl.LockSite(id); ok && symbol.Name(f) != site {
		return symbol.Name(f)
	}
	return ""
}

// done sums up what a holder did while another strand waited for it.
func done(tl *timeline.Timeline, h timeline.Hold) []shownDone {
	var out doings
	for _, a := range tl.Doing(h.Strand, h.From, h.To) {
		d := shownDone{Cause: a.Cause.String(), Took: a.To.Sub(a.From)}
		if a.Asleep {
			d.Cause = "asleep"
		}
		if a.Call != timeline.None {
			d.Peer = tl.Calls[a.Call].Peer
		}
		if a.Wait != timeline.None && tl.Waits[a.Wait].Lock != timeline.None {
			d.For = tl.Locks[tl.Waits[a.Wait].Lock].Name
		}
		if a.Cause != timeline.CauseRunnable {
			d.Place = placeOf(tl, a.Stack)
		}
		out = out.add(d)
	}
	return out.longest()
}

// doings lists what a thread did, each thing once.
type doings []shownDone

// add adds d to the entry with the same cause, call and lock, and for time on CPUs the same function. If only some
// waits for a peer have a stack, their place stands for all.
func (l doings) add(d shownDone) doings {
	for i := range l {
		o := &l[i]
		if o.Cause != d.Cause || o.Peer != d.Peer || o.For != d.For {
			continue
		}
		alike := o.Place == nil && d.Place == nil || o.Place != nil && d.Place != nil && o.Place.Full == d.Place.Full
		if alike || d.Peer != "" && (o.Place == nil || d.Place == nil) {
			o.Took += d.Took
			if o.Place == nil {
				o.Place = d.Place
			}
			return l
		}
	}
	return append(l, d)
}

func (l doings) longest() []shownDone {
	slices.SortStableFunc(l, func(a, b shownDone) int { return cmp.Compare(b.Took, a.Took) })
	return l
}

// workedFor says that a strand worked for a request, if it did not read the request.
func workedFor(r *timeline.Request, id timeline.StrandID) string {
	if slices.ContainsFunc(r.Parts, func(p timeline.Part) bool { return p.Strand == id }) {
		return ", which worked for it"
	}
	return ""
}

// Limits for the description of the waits in one row of a waterfall.
const (
	shownWaits   = 2
	shownHolders = 3
	shownDoings  = 3
)

// waitsIn returns the longest waits in a row that were not described yet.
func waitsIn(tl *timeline.Timeline, r *timeline.Request, row *row, said map[timeline.WaitID]bool) (out []timeline.WaitID) {
	took := map[timeline.WaitID]Duration{}
	for s := r.Segments(); s.Next(); {
		if s.From < row.from || s.To > row.to {
			continue
		}
		if w := waitOf(tl, &s.Segment); w != timeline.None && s.Cause == tl.Waits[w].Cause {
			took[w] += s.To.Sub(s.From)
		}
	}
	list := sorted(took)
	slices.SortStableFunc(list, func(a, b timeline.WaitID) int { return cmp.Compare(took[b], took[a]) })
	for _, id := range list[:min(len(list), shownWaits)] {
		if took[id]*100 >= r.Duration() && !said[id] {
			said[id] = true
			out = append(out, id)
		}
	}
	return out
}

// waitLines says what waits were for, where, and who held that.
func waitLines(p *page, tl *timeline.Timeline, list []timeline.WaitID, start timeline.Time) {
	for _, id := range list {
		one := waitShown(tl, id, start)
		text := "waits"
		if one.For != "" {
			text += " for " + one.For + " (" + tl.Waits[id].Cause.String() + ")"
			if n := beside(tl, id); n > 1 {
				text += fmt.Sprintf(" as one of %d", n)
			}
		}
		p.wrap(yellow, "    ", text+inPlace(one.Place)+", "+human(one.To-one.From)+quality(tl, id), 3)
		if one.Place != nil {
			one.Place.Code = p.source.code(one.Place)
			codeLines(p, "      ", one.Place)
		}
		holderLines(p, one.Holders)
	}
}

func inPlace(f *Frame) string {
	if f == nil {
		return " at a place that is not known"
	}
	in := " in " + f.Name
	if f.In != "" {
		in = " in " + f.In + ", called from " + f.Name
	}
	if w := f.where(); w != "" {
		in += " (" + w + ")"
	}
	return in
}

func quality(tl *timeline.Timeline, id timeline.WaitID) string {
	switch w := &tl.Waits[id]; {
	case w.Borrowed:
		return " (stack of all waits seen at this place)"
	case w.Quality != timeline.Exact:
		return " (" + w.Quality.String() + ")"
	}
	return ""
}

// beside returns how many waits for the same lock were under way in the middle of one wait.
func beside(tl *timeline.Timeline, id timeline.WaitID) (n int) {
	w := &tl.Waits[id]
	mid := w.From + (w.To-w.From)/2
	for _, other := range tl.Locks[w.Lock].Waits {
		if o := &tl.Waits[other]; o.From <= mid && mid < o.To {
			n++
		}
	}
	return n
}

// byThread joins what each thread did in all its holds; the longest comes first.
func byThread(list []shownHolder) (out []shownHolder) {
	index := map[string]int{}
	for _, h := range list {
		i, ok := index[h.Strand+h.Basis]
		if !ok {
			i = len(out)
			index[h.Strand+h.Basis] = i
			out = append(out, shownHolder{Strand: h.Strand, Basis: h.Basis})
		}
		out[i].To += h.To - h.From
		var all doings = out[i].Doing
		for _, d := range h.Doing {
			all = all.add(d)
		}
		out[i].Doing = all
	}
	for i := range out {
		out[i].Doing = doings(out[i].Doing).longest()
	}
	slices.SortStableFunc(out, func(a, b shownHolder) int { return cmp.Compare(b.To, a.To) })
	return out
}

// holderLines says which threads held what was waited for, and what they did meanwhile.
func holderLines(p *page, list []shownHolder) {
	list = byThread(list)
	for i, h := range list {
		if i == shownHolders {
			p.line(dim, "      and by %s", plural(len(list)-i, "other thread"))
			break
		}
		var parts []string
		for _, d := range h.Doing[:min(len(h.Doing), shownDoings)] {
			parts = append(parts, human(d.Took)+" "+d.text())
		}
		basis := ""
		if h.Basis == basisName(timeline.HoldByOwner) {
			basis = " (says the lock)"
		}
		did := ""
		if len(parts) > 0 {
			did = ": " + strings.Join(parts, "; ")
		}
		p.wrap(plain, "      ", fmt.Sprintf("held by %s%s for %s%s", h.Strand, basis, human(h.To-h.From), did), 3)
	}
}

func (d *shownDone) text() string {
	text := d.Cause
	switch {
	case d.Peer != "":
		text = "call to " + d.Peer + ", " + d.Cause
	case d.For != "":
		text = "waits for " + d.For
	}
	if d.Place != nil {
		text += inPlace(d.Place)
		if d.Cause == timeline.CauseOnCPU.String() && d.Place.Kind != recording.FrameKernel.String() {
			text += ", sampled"
		}
	}
	return text
}
