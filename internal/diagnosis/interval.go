package diagnosis

import "math/bits"

// Interval95 returns bounds of a share of which k in n independent samples were seen, with 95 % confidence (Wilson's
// score interval). Without samples the share may be anything.
func Interval95(k, n int64) (low, high Share) {
	if n <= 0 || k < 0 || k > n {
		return 0, Whole
	}
	const unit, z2 = int64(Whole), 3_841_459 // 1.96 squared, in millionths
	// in millionths: the centre (k + z2/2) / (n + z2) and half the width
	// z * sqrt(k(n-k)/n + z2/4) / (n + z2)
	below := n*unit + z2
	centre := scaled(k*unit+z2/2, unit, below)
	inner := scaled(k*(n-k), unit, n) + z2/4 // millionths
	half := scaled(root(scaled(inner, z2, 1)), unit, below)
	low, high = Share(max(0, centre-half)), Share(min(unit, centre+half))
	if k == 0 {
		low = 0
	}
	if k == n {
		high = Whole
	}
	return low, high
}

// scaled returns v*by/of without intermediate overflow, rounded towards zero; of is positive.
func scaled(v, by, of int64) int64 {
	if (v < 0) != (by < 0) {
		return -magnitude(v, by, of)
	}
	return magnitude(v, by, of)
}

func magnitude(v, by, of int64) int64 {
	hi, lo := bits.Mul64(uint64(max(v, -v)), uint64(max(by, -by)))
	if hi >= uint64(of) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(min(q, 1<<63-1))
}

// root returns the integer square root.
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
