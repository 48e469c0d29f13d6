package capture

import (
	"math/bits"
	"time"
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
