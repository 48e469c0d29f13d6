package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
)

// spent is what requests spent on one cause.
type spent struct {
	stays   []stay
	total   Duration
	longest Duration
	times   int    // separate waits
	at      string // the place in code where most of it was spent, "" not known
	line    string // the same with its line
	atShare diagnosis.Share
	in      string // the system call in which most of it was spent
	file    string // the file for which most of it was spent, "" not known

	fileShare diagnosis.Share
}

func spentOn(c *diagnosis.Case, cause timeline.Cause) spent {
	return spentIn(c, cause, stays(c, cause, whole))
}

// spentIn is what they spent in some stays of one cause.
func spentIn(c *diagnosis.Case, cause timeline.Cause, list []stay) spent {
	return spentBy(c, cause, list, func(w *stay) (call, file string, known bool) { return callOf(c, w) })
}

// callOf names the system call of a stay and the file that it was for, as far as its Wait tells.
func callOf(c *diagnosis.Case, w *stay) (call, file string, known bool) {
	if w.wait == timeline.None || c.Waits[w.wait].Off == nil {
		return "", "", false
	}
	return c.Waits[w.wait].Off.Syscall, c.FileName(c.Waits[w.wait].Off), true
}

// spentBy is spentIn where the system call and the file of a stay are told by a function.
func spentBy(c *diagnosis.Case, cause timeline.Cause, list []stay, of func(*stay) (call, file string, known bool)) spent {
	s := spent{stays: list}
	sites, lines, calls, files := tally{}, tally{}, tally{}, tally{}
	seen := diagnosis.Span{Request: timeline.None}
	for i := range s.stays {
		w := &s.stays[i]
		d := w.To.Sub(w.From)
		s.total += d
		if w.Request != seen.Request || w.From != seen.To {
			s.times++
			seen = w.Span
		}
		seen.To = w.To
		s.longest = max(s.longest, seen.To.Sub(seen.From))
		stack := stackOf(c, w)
		if (cause == timeline.CauseSleep || w.wait == timeline.None) && w.strand != timeline.None && c.Strands[w.strand].Loop {
			stack = timeline.None // of the loop's wait for its sockets, not of whoever set the timer or started a program
		}
		sites[site(c, stack)] += d
		if f, ok := c.SiteOf(stack); ok {
			lines[symbol.Place(f)] += d
		}
		if call, file, known := of(w); known {
			calls[call] += d
			files[file] += d
		}
	}
	s.at, s.atShare = sites.most()
	s.line, _ = lines.most()
	s.in, _ = calls.most()
	s.file, s.fileShare = files.most()
	return s
}

// spans is what requests would not wait without it: their own, what handing over costs them, and what they
// wait for workers that are held up by it.
func (s *spent) spans(c *diagnosis.Case) []diagnosis.Span {
	return slices.Concat(spansOf(s.stays), s.handOvers(c), behindWorkers(c, s.stays))
}

// handOvers is what requests waited for processors right after it: who does not wait has its processor still. Where a
// thread did it that did nothing else for them, it is what that waited for one before, too, and theirs once it was told.
func (s *spent) handOvers(c *diagnosis.Case) (out []diagnosis.Span) {
	var pieces []timeline.Segment
	for i := range s.stays {
		w := &s.stays[i]
		r := &c.Requests[w.Request]
		if i == 0 || s.stays[i-1].Request != w.Request {
			pieces = pieces[:0]
			for g := r.Segments(); g.Next(); {
				pieces = append(pieces, g.Segment)
			}
		}
		after, _ := slices.BinarySearchFunc(pieces, w.To+1, func(g timeline.Segment, t diagnosis.Time) int { return cmp.Compare(g.To, t) })
		before, _ := slices.BinarySearchFunc(pieces, w.From, func(g timeline.Segment, t diagnosis.Time) int { return cmp.Compare(g.From, t) })
		end := w.To
		for _, g := range pieces[after:] {
			if g.From = max(g.From, w.To); g.From > end || !w.hands(r, &g) {
				break
			}
			end = g.To
			if g.Cause == timeline.CauseRunnable {
				out = append(out, diagnosis.Span{Request: w.Request, From: g.From, To: g.To})
			}
		}
		for _, g := range slices.Backward(pieces[:before]) {
			if g.To = min(g.To, w.From); g.Strand != w.strand || g.Strand == r.Strand || !w.hands(r, &g) {
				break
			}
			if g.Cause == timeline.CauseRunnable {
				out = append(out, diagnosis.Span{Request: w.Request, From: g.From, To: g.To})
			}
		}
	}
	return out
}

// errandWork is what a thread does at most, before and after a wait of a request's, if it is there for that alone.
const errandWork = Duration(milli / 10)

// hands reports a piece of a request's time beside a wait that is spent on handing over.
func (w *stay) hands(r *timeline.Request, g *timeline.Segment) bool {
	away := w.strand != r.Strand && (g.Cause != timeline.CauseOnCPU || g.Strand == w.strand)
	return g.Cause == timeline.CauseRunnable || away && g.To.Sub(g.From) <= errandWork
}

// place names where in the code it was spent, else on which thread.
func (s *spent) place(c *diagnosis.Case) string {
	if s.at != "" || len(s.stays) == 0 {
		return s.at
	}
	threads := tally{}
	for i := range s.stays {
		threads[threadName(c, s.stays[i].strand)] += s.stays[i].To.Sub(s.stays[i].From)
	}
	name, _ := threads.most()
	return name
}

// from says from where in the code, "" if that is not known.
func (s *spent) from() string {
	if s.at == "" {
		return ""
	}
	return ", most of all in " + cmp.Or(s.line, s.at)
}

// forFile names the file it was for, "" if that is not known of most of it, or says nothing.
func (s *spent) forFile() string {
	if s.file == "" || s.file == "{}" || s.fileShare < diagnosis.Whole/2 {
		return ""
	}
	return ", for the file " + s.file
}

// evidence is what was measured of it; what names it.
func (s *spent) evidence(c *diagnosis.Case, what string) []diagnosis.Evidence {
	_, share := perMean(c, s.total)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is "+what, share),
		whose(c, spansOf(s.stays)).inRequest("mean of it in a request", "", s.total),
		diagnosis.Count("waits", s.times),
		diagnosis.NS("longest of them", s.longest),
	}
	if s.at != "" && s.atShare >= diagnosis.Whole/100 {
		ev = append(ev, diagnosis.Part("of it in "+s.at, s.atShare))
	}
	if s.file != "" {
		ev = append(ev, diagnosis.Part("of it for the file "+s.file, s.fileShare))
	}
	return ev
}

// lead says how much it was.
func (s *spent) lead(c *diagnosis.Case, what string) string {
	if s.total == 0 {
		return none(c)
	}
	_, share := perMean(c, s.total)
	return what + " takes " + diagnosis.Percent(share) + " of all request time"
}

// fixFor returns the advice of the first row that holds a system call, or the last's.
func fixFor(in string, rows []advice) string {
	for _, r := range rows {
		if slices.Contains(r.calls, in) || r.calls == nil {
			return r.text
		}
	}
	return ""
}

// advice is what to do about time spent in one of some system calls; nil is any.
type advice struct {
	calls []string
	text  string
}
