package diagnosis

import "slices"

// Point is a quantity, in nanoseconds, at a place on an axis.
type Point struct {
	X int64
	Y Duration
}

// Trend is how a quantity changes along an axis: the straight line whose slope is the
// median of the slopes between all pairs of points (Theil and Sen), so that a few points
// far off do not move it. Low and High hold the change with 99 % confidence, if points
// scatter independently (Sen).
type Trend struct {
	Start     Duration // of the line at the first point
	Change    Duration // from the first point to the last
	Low, High Duration // bounds of Change
	Agree     Share    // pairs that rise less pairs that fall, of all (Kendall's tau)
}

// TrendOf fits points in order of X. It compares every point with every other: give it
// some dozens.
func TrendOf(points []Point) (t Trend) {
	if len(points) < 2 {
		return t
	}
	width := points[len(points)-1].X - points[0].X
	var changes []Duration
	rising := 0
	for i, a := range points {
		for _, b := range points[i+1:] {
			if b.X <= a.X {
				continue
			}
			changes = append(changes, Duration(scaled(int64(b.Y-a.Y), width, b.X-a.X)))
			switch {
			case b.Y > a.Y:
				rising++
			case b.Y < a.Y:
				rising--
			}
		}
	}
	if len(changes) == 0 {
		return t
	}
	slices.Sort(changes)
	n := len(changes)
	off := spread99(len(points))
	t.Change = median(changes)
	t.Low, t.High = changes[max(0, (n-off)/2-1)], changes[min(n-1, (n+off)/2)]
	t.Agree = ShareOf(int64(rising), int64(n))
	starts := make([]Duration, len(points))
	for i, p := range points {
		starts[i] = p.Y - Duration(scaled(int64(t.Change), p.X-points[0].X, width))
	}
	slices.Sort(starts)
	t.Start = median(starts)
	return t
}

// spread99 is between how many of the sorted slopes of so many points the true one lies
// with 99 % confidence: 2.576 standard deviations of Kendall's sum.
func spread99(points int) int {
	n := int64(points)
	return int(root(n*(n-1)*(2*n+5)*1000*1000/18) * 2576 / 1000 / 1000)
}

func median(sorted []Duration) Duration {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
