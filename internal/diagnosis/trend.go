package diagnosis

import (
	"cmp"
	"slices"
)

// Point is a quantity, in nanoseconds, at a place on an axis.
type Point struct {
	X int64
	Y Duration
}

// Trend is how a quantity changes along an axis: the straight line whose slope is the median of the slopes between all
// pairs of points of the same stretch (Theil and Sen), so that a few outliers do not move it. Low and High contain the
// change with 99 % confidence, if points scatter independently (Sen).
type Trend struct {
	Start     Duration // of the line at the first point of a stretch
	Change    Duration // from the first point to the last of the longest stretch
	Low, High Duration // bounds of Change
	Agree     Share    // pairs that rise minus pairs that fall, as a share of all (Kendall's tau)
}

// TrendOf fits points in order of X. They come in stretches, between which the measured quantity may jump. It compares
// every point of a stretch with every other: give it a few dozen points.
func TrendOf(stretches ...[]Point) (t Trend) {
	var width int64
	for _, points := range stretches {
		if n := len(points); n > 1 {
			width = max(width, points[n-1].X-points[0].X)
		}
	}
	var changes []Duration
	rising := 0
	for _, points := range stretches {
		for i, a := range points {
			for _, b := range points[i+1:] {
				if b.X > a.X {
					changes = append(changes, Duration(scaled(int64(b.Y-a.Y), width, b.X-a.X)))
					rising += cmp.Compare(b.Y, a.Y)
				}
			}
		}
	}
	if len(changes) == 0 {
		return t
	}
	slices.Sort(changes)
	n := len(changes)
	off := spread99(stretches)
	t.Change = median(changes)
	t.Low, t.High = changes[max(0, (n-off)/2-1)], changes[min(n-1, (n+off)/2)]
	t.Agree = ShareOf(int64(rising), int64(n))
	var starts []Duration
	for _, points := range stretches {
		for _, p := range points {
			starts = append(starts, p.Y-Duration(scaled(int64(t.Change), p.X-points[0].X, width)))
		}
	}
	slices.Sort(starts)
	t.Start = median(starts)
	return t
}

// spread99 returns the number of sorted slopes between which the true one lies with 99 % confidence: 2.576 standard
// deviations of Kendall's sum, whose variance is the sum over the stretches.
func spread99(stretches [][]Point) int {
	var variance int64
	for _, points := range stretches {
		n := int64(len(points))
		variance += n * (n - 1) * (2*n + 5)
	}
	return int(root(variance*1000*1000/18) * 2576 / 1000 / 1000)
}

func median(sorted []Duration) Duration {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
