package capture

import (
	"math"
	"math/bits"
	"time"

	"github.com/getdwell/dwell/recording"
)

// liveStats estimates latencies for the status line. It is a histogram with buckets of a 32nd of a power of two, so
// that an estimate is off by at most 3 %.
type liveStats struct {
	requests int64
	counts   [64 * perPower]int64
	total    int64
}

func (l *liveStats) add(ns int64) {
	if ns < 0 {
		return
	}
	l.counts[bucket(uint64(ns))]++
	l.total++
}

// inFlight is the state of an inbound connection.
type inFlight struct {
	pending []recording.Time // starts of unanswered requests
	answer  answer
}

// answer is the last response that began on a connection. It may continue.
type answer struct {
	asked recording.Time // when its request arrived
	took  int64          // so far, as it was counted
	end   int64          // the offset at which it ends, as far as known; 0: there is none
}

// begins adds an answer whose first bytes were written at a time.
func (l *liveStats) begins(asked, at recording.Time, f *recording.HTTPResponse, encrypted bool) (a answer) {
	took := int64(at.Sub(asked))
	if l.add(took); took < 0 || f.Upgrade == 1 {
		return answer{}
	}
	a = answer{asked, took, f.Offset + f.Head + max(0, f.Length)}
	if f.Length < 0 && !encrypted { // otherwise an alert that closes TLS could be taken for a part of it
		a.end = math.MaxInt64
	}
	return a
}

// goesOn extends an answer to the time at which more of it was written, from offset on, or at which what was written
// left.
func (l *liveStats) goesOn(a *answer, offset int64, at recording.Time) {
	took := int64(at.Sub(a.asked))
	if offset >= a.end || took <= a.took {
		return
	}
	l.counts[bucket(uint64(a.took))]--
	l.counts[bucket(uint64(took))]++
	a.took = took
}

const (
	perPowerBits = 5
	perPower     = 1 << perPowerBits // buckets
)

func bucket(ns uint64) int {
	if ns < perPower {
		return int(ns)
	}
	exponent := bits.Len64(ns) - 1
	return exponent*perPower + int(ns>>(exponent-perPowerBits)&(perPower-1))
}

// quantile estimates the q-th percentile. Values within a bucket are assumed to be evenly distributed. It is 0 if
// nothing was added.
func (l *liveStats) quantile(percent int64) time.Duration {
	left := (l.total*percent + 99) / 100
	for i, n := range l.counts {
		if left <= n && n > 0 {
			from, wide := bucketAt(i)
			return from + time.Duration(float64(wide)*(float64(left)-0.5)/float64(n))
		}
		left -= n
	}
	return 0
}

// bucketAt returns where a bucket begins, and how wide it is.
func bucketAt(i int) (from, wide time.Duration) {
	if i < perPower {
		return time.Duration(i), 1
	}
	shift := i/perPower - perPowerBits
	return time.Duration((perPower + i%perPower) << shift), 1 << shift
}
