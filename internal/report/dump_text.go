package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// DumpTextOptions say how a dump is printed.
type DumpTextOptions struct {
	TextOptions
	Frames int    // of each stack; 0 all
	Who    string // the recording, or the process
	Wall   string // the instant as wall time; "" not known
}

// DumpJSON writes a dump as one line.
func DumpJSON(w io.Writer, d *Dump) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write the threads as JSON: %w", err)
	}
	return nil
}

// DumpText writes which threads wait for which, then every thread with its stack. Threads that do the same in the
// same place share an entry.
func DumpText(w io.Writer, d *Dump, o DumpTextOptions) error {
	p := newPage(o.TextOptions)
	at := "+" + human(d.At)
	if o.Wall != "" {
		at += " (" + o.Wall + ")"
	}
	c := d.Counts
	p.wrap(bold, "", fmt.Sprintf("%s: %s at %s, %s", o.Who, plural(c.Threads, "thread"), at, d.Chosen), 2)
	var states []string
	for _, s := range []struct {
		n    int
		name string
	}{{c.Blocked, "blocked"}, {c.Running, "running"}, {c.Runnable, "runnable"}, {c.Waiting, "waiting"}, {c.Idle, "idle"}, {c.Unknown, "in an unknown state"}} {
		if s.n > 0 {
			states = append(states, thousands(int64(s.n))+" "+s.name)
		}
	}
	p.line(plain, "  %s", strings.Join(states, ", "))
	if len(d.Blockers) > 0 {
		p.raw("")
		p.line(bold, "Who waits for whom")
		for _, b := range d.Blockers {
			blockerLines(p, b, "  ")
		}
	}
	p.raw("")
	p.line(bold, "Threads")
	for _, g := range alike(d.Threads) {
		threadLines(p, g, o.Frames)
	}
	return p.flush(w)
}

// namedWaiters is how many of the threads that wait for one thing are listed by name.
const namedWaiters = 6

func blockerLines(p *page, b *Blocker, indent string) {
	waits := "wait"
	if b.Blocks == 1 {
		waits = "waits"
	}
	text := fmt.Sprintf("%s %s for a thread that is not known", plural(b.Blocks, "thread"), waits)
	if b.thread != nil {
		text = fmt.Sprintf("%s %s for %s, which %s", plural(b.Blocks, "thread"), waits, b.thread.title(), b.thread.doing())
	}
	if b.Deadlock {
		text = "Deadlock: " + text
	}
	p.wrap(red, indent, text, 3)
	if b.thread != nil && b.thread.site >= 0 {
		codeLines(p, indent+"  ", &b.thread.Stack[b.thread.site])
	}
	for _, w := range b.Waiting {
		what := w.What
		if what == "" {
			what = "something"
		}
		names := w.named()
		p.wrap(plain, indent+"  ", fmt.Sprintf("%d for %s (%s), the longest for %s: %s", len(w.Names), what, w.Cause, human(w.Longest), strings.Join(names, ", ")), 3)
		for _, below := range w.Behind {
			blockerLines(p, below, indent+"    ")
		}
	}
}

// named lists the threads, with their ids if names alone are ambiguous; if there are many, how many belong to each
// pool.
func (w *Waiters) named() []string {
	if len(w.Names) > namedWaiters {
		return pools(w.Names)
	}
	names := slices.Clone(w.Names)
	if all := slices.Sorted(slices.Values(w.Names)); len(slices.Compact(all)) < len(w.Names) {
		for i := range names {
			names[i] += fmt.Sprintf(" (%d)", w.TIDs[i])
		}
	}
	return names
}

// pools counts threads whose names differ only by a number; the largest group comes first.
func pools(names []string) (out []string) {
	count := map[string]int{}
	for _, n := range names {
		count[strings.TrimRight(n, "0123456789")]++
	}
	keys := sorted(count)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%d %s*", count[k], k))
	}
	return out
}

func (t *DumpThread) title() string {
	if t.TID == 0 { // a goroutine
		return t.Name
	}
	return fmt.Sprintf("%s (%d)", t.Name, t.TID)
}

// does describes in words what a thread does in time with this cause.
func does(cause string) string {
	for c := range timeline.NumCauses {
		if c.String() == cause {
			words := inWords(c, map[string]bool{})
			if rest, waits := strings.CutPrefix(words, "waiting "); waits {
				return "waits " + rest
			}
			return "is " + words
		}
	}
	return "waits (" + cause + ")"
}

// doing describes a thread's state as the end of a sentence.
func (t *DumpThread) doing() string {
	in := ""
	if t.site >= 0 {
		in = inPlace(&t.Stack[t.site])
	}
	for_ := " for " + human(t.For)
	if t.AtLeast {
		for_ = " for at least " + human(t.For)
	}
	switch {
	case t.State == "running":
		return "runs on a processor" + in + for_
	case t.State == "runnable":
		return "waits for a processor" + in + for_
	case t.State == "idle":
		return "waits for work" + in + for_
	case t.State == "unknown" && t.Seen.How == "release":
		return "does what is not known" + for_ + ", until it lets go" + in
	case t.State == "unknown":
		return "is in an unknown state"
	case t.Call != nil:
		name := t.Call.Peer
		if t.Call.Operation != "" {
			name = t.Call.Operation + " at " + name
		}
		return "waits for its call to " + name + " (" + t.Call.Phase + ")" + in + for_
	case t.Wait != nil && t.Wait.What != "":
		return "waits for " + t.Wait.What + " (" + t.Wait.Cause + ")" + in + for_
	case t.Wait != nil || t.Cause != "unknown":
		return does(t.Cause) + in + for_
	case t.Seen.How == "release":
		return "sleeps, it is not known in what," + for_ + ", until it lets go" + in
	case t.TID == 0:
		return "waits, for what is not known," + for_
	}
	return "sleeps in " + orNothing(t.Syscall) + in + for_
}

func orNothing(syscall string) string {
	if syscall == "" {
		return "no system call"
	}
	return syscall
}

// alike groups threads that do the same in the same place: threads that block others first, then by state, larger
// groups first.
func alike(threads []*DumpThread) [][]*DumpThread {
	type key struct {
		state, cause, syscall, what, process string
		stack, holder, call                  int
	}
	groups := map[key][]*DumpThread{}
	var order []key
	for i, t := range threads {
		k := key{t.State, t.Cause, t.Syscall, "", fmt.Sprint(t.Process), int(t.place), -1, -1}
		if t.Wait != nil {
			k.what = t.Wait.What
			if t.Wait.Holder != nil {
				k.holder = int(t.Wait.Holder.strand)
			}
		}
		if t.Call != nil || t.Blocks > 0 || t.Open > 1 || t.State == "running" {
			k.call = i // it makes a group of its own
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], t)
	}
	rank := map[string]int{"blocked": 1, "running": 2, "runnable": 3, "waiting": 4, "unknown": 5, "idle": 6}
	out := make([][]*DumpThread, 0, len(order))
	for _, k := range order {
		out = append(out, groups[k])
	}
	slices.SortStableFunc(out, func(a, b []*DumpThread) int {
		return cmp.Or(cmp.Compare(b[0].Blocks, a[0].Blocks), cmp.Compare(rank[a[0].State], rank[b[0].State]),
			cmp.Compare(min(1, len(b[0].Stack)), min(1, len(a[0].Stack))), cmp.Compare(len(b), len(a)))
	})
	return out
}

// threadLines prints threads that do the same.
func threadLines(p *page, g []*DumpThread, frames int) {
	t := slices.MaxFunc(g, func(a, b *DumpThread) int { return cmp.Compare(a.For, b.For) })
	head := t.title()
	if len(g) > 1 {
		var names []string
		for _, x := range g[:min(len(g), namedWaiters)] {
			names = append(names, x.title())
		}
		if n := len(g) - len(names); n > 0 {
			names = append(names, thousands(int64(n))+" more")
		}
		head = fmt.Sprintf("%d threads: %s; each", len(g), strings.Join(names, ", "))
	}
	text := head + " " + t.doing()
	if len(g) > 1 && strings.Contains(text, " for "+human(t.For)) {
		text += " at most"
	}
	if t.Request != nil && len(g) == 1 {
		text += fmt.Sprintf(", for request #%d %s", *t.Request, t.Endpoint)
	}
	if t.Open > 1 && len(g) == 1 {
		text += ", with " + plural(t.Open, "request") + " open"
	}
	p.wrap(plain, "  ", text+"; "+t.evidence(), whole)
	stackLines(p, t, frames)
}

// stackLines prints a thread's stack. With a limit, it omits the machine code with which a runtime runs its
// functions.
func stackLines(p *page, t *DumpThread, limit int) {
	most := limit
	if limit > 0 && t.bystander() {
		most = min(limit, bystanderFrames)
	}
	shown, managed := 0, false
	for i := range t.Stack {
		f := &t.Stack[i]
		native := f.Kind == recording.FrameNative.String() || f.Kind == recording.FrameKernel.String()
		if native && managed && limit > 0 {
			continue
		}
		managed = managed || !native
		if limit > 0 && shown >= most && i > t.site {
			p.line(dim, "      ... %s", plural(len(t.Stack)-i, "more frame"))
			return
		}
		shown++
		line := "      " + f.Name
		if w := f.where(); w != "" {
			line += " (" + w + ")"
		}
		p.line(dim, "%s", line)
		codeLines(p, "        ", f)
	}
}

// bystanderFrames is how many frames are printed of threads that do nothing for a request, unless all are requested.
const bystanderFrames = 3

func (t *DumpThread) bystander() bool {
	return (t.State == "waiting" || t.State == "idle") && t.Open == 0 && t.Blocks == 0 && t.Call == nil
}

// evidence says what is known about a thread's stack and about the holder of what it waits for.
func (t *DumpThread) evidence() string {
	text := ""
	if t.Wait != nil && t.Wait.Holder != nil {
		h := t.Wait.Holder
		text = h.Name
		if h.TID != 0 { // otherwise it is a goroutine
			text = fmt.Sprintf("%s (%d)", h.Name, h.TID)
		}
		text += " has it"
		if h.Had > 0 {
			text += " since " + human(h.Had) + " ago"
		}
		text += map[string]string{
			"owner": ", says the lock; ", "yield": ", for it then stood back; ", "release": ", for it woke the next one; ",
		}[h.Basis]
	} else if t.State == "blocked" {
		text = "who has it is not known; "
	}
	switch t.Seen.How {
	case "own":
		return text + "stack of this wait"
	case "borrowed":
		return text + "stack of all waits seen at this place"
	case "release":
		return text + "stack with which it lets go later"
	case "sample":
		when := "before"
		if t.Seen.Age < 0 {
			when = "after"
		}
		return text + "stack sampled " + human(max(t.Seen.Age, -t.Seen.Age)) + " " + when
	}
	if t.TID == 0 {
		return text + "a goroutine's stack is not seen"
	}
	if (t.State == "waiting" || t.State == "idle") && t.AtLeast {
		return text + "no stack, for it did not move while it was recorded"
	}
	return text + "no stack"
}
