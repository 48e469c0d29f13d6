package diagnosis

import "testing"

// points returns a quantity at 20 places on an axis.
func points(y func(i int) Duration) (p []Point) {
	for i := range 20 {
		p = append(p, Point{int64(i) * 10, y(i)})
	}
	return p
}

// jitter returns a number between -50 and 49 that looks random.
func jitter(i int) Duration { return Duration((i*7919+104729)%100 - 50) }

func TestTrendOfALine(t *testing.T) {
	got := TrendOf(points(func(i int) Duration { return 1000 + 100*Duration(i) }))
	if want := (Trend{Start: 1000, Change: 1900, Low: 1900, High: 1900, Agree: Whole}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTrendIgnoresOutliers(t *testing.T) {
	got := TrendOf(points(func(i int) Duration {
		if i%7 == 3 {
			return 50_000
		}
		return 1000 + 100*Duration(i) + jitter(i)
	}))
	if got.Change < 1700 || got.Change > 2100 || got.Low < 1000 || got.Start < 900 || got.Start > 1200 {
		t.Errorf("%+v of a line from 1000 to 2900 with three points far off", got)
	}
}

func TestTrendOfNothingButChance(t *testing.T) {
	got := TrendOf(points(func(i int) Duration { return 1000 + jitter(i*i) }))
	if got.Low > 0 || got.High < 0 {
		t.Errorf("%+v: the bounds of a quantity that does not change hold 0", got)
	}
}

// A step is not a slope: half of the pairs lie on the same side of it.
func TestTrendOfAStepAgreesLittle(t *testing.T) {
	got := TrendOf(points(func(i int) Duration { return 1000 + Duration(i/10)*1000 + jitter(i*i) }))
	if got.Agree > Whole*7/10 {
		t.Errorf("%+v", got)
	}
}

// A quantity that falls back twice, and rises in between, rises.
func TestTrendWithinStretches(t *testing.T) {
	all := points(func(i int) Duration { return 1000 + 100*Duration(i%7) })
	got := TrendOf(all[:7], all[7:14], all[14:])
	if want := (Trend{Start: 1000, Change: 600, Low: 600, High: 600, Agree: Whole}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := TrendOf(all); got.Low > 0 {
		t.Errorf("%+v as one stretch", got)
	}
}

func TestTrendOfTooFewPoints(t *testing.T) {
	for _, p := range [][]Point{nil, {{1, 5}}, {{1, 5}, {1, 9}}} {
		if got := TrendOf(p); got != (Trend{}) {
			t.Errorf("%+v of %v", got, p)
		}
	}
}

func TestTrendOfLargeNumbers(t *testing.T) {
	day := Duration(86_400_000_000_000)
	got := TrendOf([]Point{{0, day}, {1 << 40, 2 * day}, {1 << 41, 3 * day}})
	if got.Start != day || got.Change != 2*day {
		t.Errorf("%+v", got)
	}
}
