package capture

import (
	"math"
	"math/bits"
	"time"

	"github.com/getdwell/dwell/recording"
)

// liveStats estimates latencies for the status line: a histogram with eight buckets
// for each power of two.
type liveStats struct {
	requests int64
	counts   [64 * 8]int64
	total    int64
}

func (l *liveStats) add(ns int64) {
	if ns < 0 {
		return
	}
	l.counts[bucket(uint64(ns))]++
	l.total++
}

// inFlight is what is under way on an inbound connection.
type inFlight struct {
	pending []recording.Time // starts of requests that have no response yet
	answer  answer
}

// answer is the last response that began on a connection, which may go on.
type answer struct {
	asked recording.Time // when its request arrived
	took  int64          // so far, as it was added
	end   int64          // the offset at which it ends, as far as that is known; 0: there is none
}

// begins adds an answer whose first bytes were written at a time.
func (l *liveStats) begins(asked, at recording.Time, f *recording.HTTPResponse, encrypted bool) (a answer) {
	took := int64(at.Sub(asked))
	if l.add(took); took < 0 || f.Upgrade == 1 {
		return answer{}
	}
	a = answer{asked, took, f.Offset + f.Head + max(0, f.Length)}
	if f.Length < 0 && !encrypted { // else an alert that TLS ends with could be taken for a piece of it
		a.end = math.MaxInt64
	}
	return a
}

// goesOn makes an answer last until a time, at which something was written from an offset on,
// or what had been written left.
func (l *liveStats) goesOn(a *answer, offset int64, at recording.Time) {
	took := int64(at.Sub(a.asked))
	if offset >= a.end || took <= a.took {
		return
	}
	l.counts[bucket(uint64(a.took))]--
	l.counts[bucket(uint64(took))]++
	a.took = took
}

func bucket(ns uint64) int {
	if ns < 8 {
		return int(ns)
	}
	exponent := bits.Len64(ns) - 1
	return exponent*8 + int(ns>>(exponent-3)&7)
}

// quantile is the lower bound of the bucket that holds the q-th per cent; 0 if
// nothing was added.
func (l *liveStats) quantile(percent int64) time.Duration {
	left := (l.total*percent + 99) / 100
	for i, n := range l.counts {
		left -= n
		if left <= 0 && n > 0 {
			return bucketStart(i)
		}
	}
	return 0
}

func bucketStart(i int) time.Duration {
	if i < 8 {
		return time.Duration(i)
	}
	exponent := i / 8
	return time.Duration((8 + i%8) << (exponent - 3))
}
