package timeline

import "sort"

// laneStep is how many pieces of a lane share one running sum.
const laneStep = 32

// lane is what a strand did over its whole life, by the cause it gives to those who
// wait for it, with running sums: how long it did what between two times takes two
// searches, however much happened in between.
type lane struct {
	from []Time // starts of the pieces; the last is the end
	what []Cause
	sums [][numWaits]Duration // before every laneStep-th piece
}

// lane returns the strand's lane, made at its first use.
func (s *segmenter) lane(id StrandID) *lane {
	if l := s.lanes[id]; l != nil {
		return l
	}
	ivs := s.t.Strands[id].Intervals
	l := &lane{}
	var sum [numWaits]Duration
	eachPiece(ivs, s.in.owners[id], func(iv Interval, owner RequestID) {
		cause, _ := s.reading(id, iv, owner)
		if n := len(l.what); n == 0 || l.what[n-1] != cause {
			if n%laneStep == 0 {
				l.sums = append(l.sums, sum)
			}
			l.from, l.what = append(l.from, iv.From), append(l.what, cause)
		}
		sum[cause] += iv.To.Sub(iv.From)
	})
	if n := len(ivs); n > 0 {
		l.from = append(l.from, ivs[n-1].To)
	}
	s.lanes[id] = l
	return l
}

// before returns the time spent on each cause before a time.
func (l *lane) before(at Time) [numWaits]Duration {
	i := sort.Search(len(l.what), func(k int) bool { return l.from[k] > at }) - 1
	if i < 0 {
		return [numWaits]Duration{}
	}
	k := i / laneStep
	sum := l.sums[k]
	for k *= laneStep; k <= i; k++ {
		sum[l.what[k]] += min(l.from[k+1], at).Sub(l.from[k])
	}
	return sum
}

// summary adds one segment a cause, in the order of causes. Their lengths are exact,
// their places are not: what alternated is put together.
func (l *lane) summary(w wait, quality Quality, p *painter) {
	a, b := l.before(w.from), l.before(w.to)
	at := w.from
	for c := range Cause(numWaits) {
		d := b[c] - a[c]
		cause := c
		switch c {
		case causeNone:
			continue
		case causeIdle:
			cause = CauseUnknown
		}
		p.add(Segment{
			From: at, To: at + Time(d), Phase: w.phase, Cause: cause, Quality: max(quality, Inferred),
			Call: w.call, Strand: w.strand, Blocker: None,
		})
		at += Time(d)
	}
}
