package report

import (
	"math/bits"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// interval95 returns the interval in which a share lies if k of n independent samples showed it.
func interval95(k, n int64) (low, high Decimal) {
	a, b := diagnosis.Interval95(k, n)
	return Decimal(a), Decimal(b)
}

// scaled returns v*by/of without overflow in between; all values are positive or 0.
func scaled(v, by, of int64) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(by))
	if hi >= uint64(of) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(min(q, 1<<63-1))
}

// of returns the given share of a duration.
func (d Decimal) of(whole Duration) Duration { return Duration(scaled(int64(d), int64(whole), unit)) }
