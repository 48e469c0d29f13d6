package segments

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// laneStep is how many pieces of a lane share one running sum.
const laneStep = 32

// lane is what a strand did over its whole life, by the cause that this is for requests that wait for it, with running
// sums. Two searches give how long it did what between two times, however much happened in between.
type lane struct {
	from []recording.Time // starts of the pieces; the last is the end
	what []timeline.Cause
	sums [][numWaits]recording.Duration // before every laneStep-th piece
}

// lane returns the strand's lane, and makes it on first use.
func (s *segmenter) lane(id timeline.StrandID) *lane {
	if l := s.lanes[id]; l != nil {
		return l
	}
	ivs := s.t.Strands[id].Intervals
	l := &lane{from: make([]recording.Time, 0, len(ivs)), what: make([]timeline.Cause, 0, len(ivs)), sums: make([][numWaits]recording.Duration, 0, len(ivs)/laneStep)}
	var sum [numWaits]recording.Duration
	eachPiece(ivs, s.in.Owners[id], func(iv timeline.Interval, owner timeline.RequestID) {
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
func (l *lane) before(at recording.Time) [numWaits]recording.Duration {
	i := sort.Search(len(l.what), func(k int) bool { return l.from[k] > at }) - 1
	if i < 0 {
		return [numWaits]recording.Duration{}
	}
	k := i / laneStep
	sum := l.sums[k]
	for k *= laneStep; k <= i; k++ {
		sum[l.what[k]] += min(l.from[k+1], at).Sub(l.from[k])
	}
	return sum
}

// summary adds one segment per cause, in the order of causes. Their lengths are exact, but their positions are not:
// alternating pieces are merged.
func (l *lane) summary(w wait, quality timeline.Quality, p *painter) {
	a, b := l.before(w.from), l.before(w.to)
	at := w.from
	for c := range timeline.Cause(numWaits) {
		d := b[c] - a[c]
		cause := c
		switch c {
		case causeNone:
			continue
		case causeIdle:
			cause = timeline.CauseUnknown
		}
		p.add(timeline.Segment{
			From: at, To: at + recording.Time(d), Phase: w.phase, Cause: cause, Quality: max(quality, timeline.Inferred),
			Call: w.call, Strand: w.strand, Blocker: timeline.None,
		})
		at += recording.Time(d)
	}
}
