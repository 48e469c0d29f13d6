package hypotheses

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// competes is the share of the host's processors from which on programs that are not watched compete with the service.
// They can keep each of its threads waiting, however idle the processors are on average.
const competes = diagnosis.Whole / 10

// neighbours are the programs beside the watched ones, and what they used.
type neighbours struct {
	share    diagnosis.Share // of the host's processors, of all these programs together
	names    string          // "python3 (48 %) and cc1 (3.0 %)"; "" if none is known
	evidence []diagnosis.Evidence
}

// besideUs says which other programs used the processors while requests were measured.
func besideUs(c *diagnosis.Case) (n neighbours) {
	from, to := c.Busy()
	used := tally{}
	for i := range c.Neighbours {
		s := &c.Neighbours[i]
		if over := min(s.Time, to).Sub(max(s.Since, from)); over > 0 {
			used[s.Comm] += diagnosis.ShareOf(int64(over), int64(s.Time.Sub(s.Since))).Of(Duration(s.CPU))
		}
	}
	var names []string
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	all := int64(to.Sub(from)) * max(1, c.Manifest.CPUs)
	var said []string
	for i, name := range names {
		part := diagnosis.ShareOf(int64(used[name]), all)
		n.share += part
		if i < 2 && part >= diagnosis.Whole/100 {
			said = append(said, name+" ("+diagnosis.Percent(part)+")")
			n.evidence = append(n.evidence, diagnosis.Part("of the processors' time was used by "+name+", which dwell does not watch", part))
		}
	}
	n.names = strings.Join(said, " and ")
	return n
}

// tookFrom returns what programs beside the service cost requests while they have the processors: their share of each
// wait of a thread for one, and what passes behind a thread that has a lock or a task and gets no processor. Goroutines
// in the queue of their runtime wait for each other. Its callers share it.
func tookFrom(c *diagnosis.Case) []diagnosis.Span { return slices.Clip(neighboursTook(c).all) }

// tookFromWork returns the part of that in which threads wait that compute for a request. A thread that computes beside
// other programs is preempted again and again, the more often the more it computes. That goes with the work. Its
// callers share it.
func tookFromWork(c *diagnosis.Case) []diagnosis.Span { return slices.Clip(neighboursTook(c).work) }

type taken struct{ all, work []diagnosis.Span }

func neighboursTook(c *diagnosis.Case) *taken {
	return c.Once("neighbours took", func() any {
		h, out := hostLoad(c), &taken{}
		if others := besideUs(c); !h.known || h.busy < c.Saturated && others.share < competes || !othersHave(c, h) {
			return out
		}
		_, theirs := inFront(c)
		putOff, many := []bool(nil), 0
		ready := c.SpansOf(timeline.CauseRunnable, func(_ *timeline.Request, g *timeline.Segment) bool {
			if !ofThread(c, g) {
				return false
			}
			ran := ranBefore(c, g)
			if putOff = append(putOff, ran); ran {
				many++
			}
			return true
		})
		out.work = make([]diagnosis.Span, 0, many)
		for i := range ready {
			if ready[i].From += diagnosis.Time((diagnosis.Whole - theirs).Of(ready[i].To.Sub(ready[i].From))); putOff[i] {
				out.work = append(out.work, ready[i])
			}
		}
		out.all = c.Merged(append(ready, behindReady(c)...))
		return out
	}).(*taken)
}

// ranBefore reports whether a thread that is ready to run was preempted: it ran before, and nothing woke it.
func ranBefore(c *diagnosis.Case, g *timeline.Segment) bool {
	if g.Strand == timeline.None {
		return false
	}
	list := c.Strands[g.Strand].Intervals
	i := sort.Search(len(list), func(k int) bool { return list[k].To > g.From })
	return i > 0 && i < len(list) && list[i].State == timeline.StateRunnable && list[i-1].State == timeline.StateRunning
}

// inFront returns the shares of the service's own work, and of other programs, in what threads wait behind for a
// processor. If what had the processors was not recorded, they are the shares of what was used of them.
func inFront(c *diagnosis.Case) (own, others diagnosis.Share) {
	own, others, known := ahead(c).shares()
	if !known {
		own = diagnosis.Whole
		if h := hostLoad(c); h.known && h.busy > 0 {
			own = min(diagnosis.Whole, diagnosis.ShareOf(int64(ours(c)), int64(h.busy)))
		}
		others = diagnosis.Whole - own
	}
	return own, others
}

// ofThread reports whether a thread waits in a segment, and not a goroutine in the queue of its runtime.
func ofThread(c *diagnosis.Case, g *timeline.Segment) bool {
	return g.Strand == timeline.None || c.Strands[g.Strand].Goroutine == recording.NoGoroutine
}

// used says who used the processors, to follow a title. Of other programs it is known what they all used, and what each
// one used that ran for long enough to be counted.
func (n *neighbours) used(busy, own diagnosis.Share) string {
	text := "; the service used " + diagnosis.Percent(own) + " of the processors"
	if busy-own >= diagnosis.Whole/100 {
		text += ", others " + diagnosis.Percent(busy-own)
		switch {
		case n.names != "":
			text += ", mostly by programs named " + n.names
		case n.share == 0:
			text += " (their names were not recorded)"
		}
	}
	return text
}

// fix says what would give the service more of the processors.
func (n *neighbours) fix(busy, own diagnosis.Share) string {
	if busy-own < competes {
		return "give the service more CPU, or make its computations cheaper"
	}
	return "give the service more CPU, or move the programs that compete with it: " + cmp.Or(n.names, "see what else runs there (top, systemd-cgtop)")
}
