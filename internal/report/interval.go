package report

import "math/bits"

// interval95 is where a share lies of which k of n independent samples were seen, with
// 95 % confidence, in millionths (Wilson's score interval). Without samples it may be
// anything.
func interval95(k, n int64) (low, high Decimal) {
	if n <= 0 || k < 0 || k > n {
		return 0, unit
	}
	const z2 = 3_841_459 // 1.96 squared, in millionths
	// in millionths: the centre (k + z2/2) / (n + z2) and half the width
	// z * sqrt(k(n-k)/n + z2/4) / (n + z2)
	below := n*unit + z2
	centre := scaled(k*unit+z2/2, unit, below)
	inner := scaled(k*(n-k), unit, n) + z2/4 // millionths
	half := scaled(root(scaled(inner, z2, 1)), unit, below)
	low, high = Decimal(max(0, centre-half)), Decimal(min(unit, centre+half))
	if k == 0 {
		low = 0
	}
	if k == n {
		high = unit
	}
	return low, high
}

// scaled is v*by/of, without overflow on the way; all are positive or 0.
func scaled(v, by, of int64) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(by))
	if hi >= uint64(of) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(min(q, 1<<63-1))
}

// root is the integer square root.
func root(v int64) int64 {
	if v <= 0 {
		return 0
	}
	r := int64(1) << ((bits.Len64(uint64(v)) + 1) / 2)
	for {
		next := (r + v/r) / 2
		if next >= r {
			return r
		}
		r = next
	}
}

// of is the given share of a duration.
func (d Decimal) of(whole Duration) Duration { return Duration(scaled(int64(d), int64(whole), unit)) }
