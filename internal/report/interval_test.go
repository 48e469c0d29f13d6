package report

import "testing"

// Wilson's score interval as statistics packages print it, to four places.
func TestInterval95(t *testing.T) {
	for _, c := range []struct {
		k, n      int64
		low, high Decimal
	}{
		{5, 10, 236_600, 763_400},
		{0, 10, 0, 277_500},
		{10, 10, 722_500, 1_000_000},
		{1, 1, 206_500, 1_000_000},
		{50, 1000, 38_100, 65_300},
		{0, 0, 0, 1_000_000},
		{600_000, 1_200_000, 499_100, 500_900},
	} {
		low, high := interval95(c.k, c.n)
		if far(low, c.low) || far(high, c.high) {
			t.Errorf("%d of %d: %s to %s, want %s to %s", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func far(a, b Decimal) bool { return max(a-b, b-a) > 100 }
