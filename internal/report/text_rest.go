package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ruledOut lists what was ruled out, with the time that was seen of it. With --all, each has its sentence; hypotheses
// with the same sentence share it.
func ruledOut(p *page, r *Report) {
	if len(r.Refuted) == 0 {
		return
	}
	if p.all {
		var list []reason
		for _, o := range r.Refuted {
			list = append(list, reason{o.ID, o.Why})
		}
		reasons(p, plain, "Ruled out by measurement", list)
		return
	}
	if !p.names {
		return // undecided counts them
	}
	var list []string
	for _, o := range r.Refuted {
		if o.Time > 0 {
			list = append(list, o.ID+" "+percent(o.Time))
		}
	}
	for _, o := range r.Refuted {
		if o.Time == 0 {
			list = append(list, o.ID)
		}
	}
	p.hang(plain, p.paint(bold, "Ruled out")+" (share of the time; --all says why): ", strings.Join(list, ", "), whole)
}

// undecided names hypotheses for which facts are missing, and counts those ruled out if they are not named; with
// --all it says which. What needs another recording comes last, and only with --all.
func undecided(p *page, r *Report) {
	var list []reason
	for _, o := range r.Undecided {
		if !o.another || p.all {
			list = append(list, reason{o.ID, o.Missing})
		}
	}
	n := len(r.Refuted)
	ruled, head := p.paint(bold, "Ruled out by measurement: ")+suspects(n), p.paint(bold, "Undecided")+", facts missing (--all)"
	switch open := strings.Join(grouped(list), ", "); {
	case len(list) == 0 && (p.names || n == 0):
	case p.all:
		reasons(p, yellow, "Undecided, facts are missing", list)
	case p.names || n == 0:
		p.hang(yellow, head+": ", open, whole)
	case len(list) == 0:
		p.raw(ruled + " (--all lists them)")
	default:
		p.hang(yellow, ruled+". "+head+": ", open, whole)
	}
}

// countOthers counts what is neither a finding nor a lead. What the answer recommends to look at is printed.
func countOthers(p *page, r *Report) {
	few, unsure := 0, 0
	d := besides(r)
	for i := range r.Minor {
		switch f := &r.Minor[i]; {
		case d != nil && f.ID == d.ID && f.ExplainedBy == "":
			p.minorFirst(f)
		case f.Impact.Unsure:
			unsure++
		default:
			few++
		}
	}
	open := len(slices.DeleteFunc(slices.Clone(r.Undecided), func(u Undecided) bool { return u.another }))
	var list []string
	for _, x := range []struct {
		n    int
		what string
	}{{few, "minor"}, {unsure, "may be chance"}, {len(r.Refuted), "ruled out by measurement"}, {open, "undecided, as facts are missing"}} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if list != nil {
		p.hang(plain, p.paint(bold, "Other suspects: "), strings.Join(list, ", ")+" (--all lists them)", whole)
	}
}

// sameLack is the number of hypotheses lacking the same facts from which on they are only counted.
const sameLack = 6

// grouped names what is undecided, and only counts hypotheses if many of them lack the same facts.
func grouped(list []reason) (out []string) {
	lack := map[string]int{}
	for _, r := range list {
		lack[r.why]++
	}
	for _, r := range list {
		switch n := lack[r.why]; {
		case n >= sameLack:
			lack[r.why] = -1
			out = append([]string{suspects(n) + " (" + r.why + ")"}, out...)
		case n > 0:
			out = append(out, r.id)
		}
	}
	return out
}

func footer(p *page, r *Report) {
	p.wrap(dim, "", cost(r, p.all), whole)
	if p.all {
		for _, m := range r.Seen.Missing {
			p.wrap(dim, "Not seen: ", m, whole)
		}
		return
	}
	notSeen(p, r.Seen.Missing)
}

// Shares of stolen time from which on it is reported: at the end, and in the first lines too.
const (
	noted    = unit / 100
	misleads = unit / 10
)

// stolenMuch warns in the first lines if the hypervisor took much of the processors' time.
func stolenMuch(rec *Recording) string {
	if rec.Stolen < misleads {
		return ""
	}
	return " Beware: a hypervisor took " + percent(rec.Stolen) + " of the processors' time (steal): computing and waits for a processor look longer than they are."
}

// cost says what recording cost and lost, and which facts the report does not use.
func cost(r *Report, all bool) string {
	rec := &r.Recording
	used := percent(rec.OverheadCPUShare) + " of a core"
	if later := rec.OverheadLater; later > 0 && 2*later <= rec.OverheadCPUShare {
		used = percent(later) + " of a core once running (" + percent(rec.OverheadCPUShare) + " with its start)"
	}
	text := fmt.Sprintf("Recorded %s, %s lost; dwell used %s%s; ", plural(rec.Events, "event"), thousands(rec.Lost), used, r.ownCost())
	if rec.Stolen >= noted || all && rec.Stolen > 0 {
		text += "a hypervisor took " + percent(rec.Stolen) + " of the processors' time (steal)"
		if rec.Stolen < misleads {
			text += ", which shows as computing or waiting for a processor"
		}
		text += "; "
	}
	if r.Seen.Calls == 0 {
		text += "no outgoing calls; "
	} else {
		text += percent(r.Requests.AssociatedShare) + " of " + plural(r.Seen.Calls, "call") + " matched to a request"
		if r.Requests.InferredShare > 0 {
			text += " (" + percent(r.Requests.InferredShare) + " inferred from their order or from earlier calls, not observed)"
		}
		text += "; "
	}
	if n := r.Requests.Cut - r.Requests.Early - r.Requests.Unwatched; n > 0 || all {
		text += plural(n, "request") + " cut by an end of the recording; "
	}
	if n := r.Requests.Early; n > 0 {
		text += plural(n, "request") + " left out that came while the ids of the runtime were looked for; "
	}
	if n := r.Requests.Excluded; n > 0 || all {
		text += plural(n, "request") + " that measure no latency; "
	}
	if text += percent(r.Requests.UnaccountedShare) + " of the time unaccounted for"; r.Requests.UnknownShare >= unit/100 {
		text += ", " + percent(r.Requests.UnknownShare) + " of unknown cause"
	}
	if w := rec.WaitStacks; w != nil && all {
		text += fmt.Sprintf("; of the time in waits of 1 ms and more %s has its own stack, %s that of others at its place", percent(w.Own), percent(w.Borrowed))
	}
	return text + "."
}

// notSeenLines is the maximum number of lines for describing what was not seen; beyond it, it is only named.
const notSeenLines = 2

func notSeen(p *page, missing []string) {
	lines := 0
	var names []string
	for _, m := range missing {
		lines += len(fold(m, p.width-len("Not seen: ")))
		code, _, _ := strings.Cut(m, ":")
		if name := unseenWords(code); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if lines > notSeenLines || lines > 1 && !p.names {
		const head = "Seen in part only (--all says more): "
		p.wrap(dim, head, someOf(names, p.width-len(head)), whole)
		return
	}
	for _, m := range missing {
		p.wrap(dim, "Not seen: ", m, whole)
	}
}

// someOf lists as many names as fit into width runes, and counts the others.
func someOf(names []string, width int) string {
	for n := len(names); n > 0; n-- {
		text := strings.Join(names[:n], ", ")
		if n < len(names) {
			text += fmt.Sprintf(" and %d more", len(names)-n)
		}
		if utf8.RuneCountInString(text) <= width || n == 1 {
			return text
		}
	}
	return ""
}

// unseenWords names what a code of recording.Missing stands for. A code that is not listed is its own name.
func unseenWords(code string) string {
	words := map[string]string{
		"arrivals":         "arrivals of data",
		"connection":       "the beginning of connections",
		"contexts":         "Python's tasks",
		"entering":         "programs just started",
		"go-calls":         "Go's HTTP calls",
		"go-channels":      "Go's channels",
		"go-conditions":    "Go's conditions",
		"go-locks":         "Go's locks",
		"go-pauses":        "Go's pauses",
		"go-runs":          "runs of goroutines",
		"go-sleeps":        "Go's sleeps",
		"go-waits":         "Go's channels and sleeps",
		"host-cpu":         "the host's load",
		"host-overflows":   "full accept queues",
		"host-pressure":    "the host's load",
		"host-throttling":  "CPU quotas",
		"joining":          "the first moments",
		"losses":           "what was lost",
		"mappings":         "memory maps",
		"namespaces":       "other network namespaces",
		"no-btf":           "kernel types",
		"node-promises":    "Node's promises",
		"node-timers":      "Node's timers",
		"process":          "short processes",
		"promises":         "Node's promises",
		"python-contexts":  "Python's tasks",
		"python-queues":    "Python's queues",
		"queues":           "queues of tasks",
		"rests":            "rests between windows",
		"runtimes":         "some programs' runtimes",
		"samples":          "CPU samples",
		"stacks":           "some stacks",
		"syncs":            "file syncs",
		"thread-pool":      "Node's thread pool",
		"tls-calls":        "calls over TLS",
		"tls-heads":        "calls over TLS",
		"unix-ends":        "ends of Unix sockets",
		"unpaired-replies": "the order of replies",
		"unseen-bytes":     "some reads",
		"versions":         "versions of programs",
		"wakings":          "wake-ups",
	}[code]
	if words == "" {
		return strings.ReplaceAll(code, "-", " ")
	}
	return words
}
