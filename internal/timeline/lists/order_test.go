package lists

import (
	"math"
	"slices"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// TestByTime orders elements as a stable sort does: few and many, close and far apart.
func TestByTime(t *testing.T) {
	type element struct {
		at    recording.Time
		place int
	}
	for _, n := range []int{0, 1, 2, 100, 5_000} {
		for _, spread := range []int64{1, 1_000, 1 << 40, math.MaxInt64} {
			list := make([]element, n)
			for i := range list {
				at := int64(uint64(i)*0x9e3779b97f4a7c15) % spread // either sign
				list[i] = element{recording.Time(at), i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b element) int {
				if a.at < b.at {
					return -1
				}
				if a.at > b.at {
					return 1
				}
				return 0
			})
			if got := ByTime(list, func(e *element) recording.Time { return e.at }); !slices.Equal(got, want) {
				t.Errorf("%d elements within ±%d are in another order than by a stable sort", n, spread)
			}
			if SortByTime(list, func(e *element) recording.Time { return e.at }); !slices.Equal(list, want) {
				t.Errorf("%d elements within ±%d are in another order than by a stable sort, where they are", n, spread)
			}
		}
	}
}

// TestSortNumbers sorts few and many, close and far apart.
func TestSortNumbers(t *testing.T) {
	for _, n := range []int{0, 1, 100, 5_000} {
		for _, spread := range []uint64{1, 1_000, 1 << 40, math.MaxUint64} {
			list := make([]recording.Duration, n)
			for i := range list {
				list[i] = recording.Duration(uint64(i) * 0x9e3779b97f4a7c15 % spread) // either sign
			}
			want := slices.Clone(list)
			slices.Sort(want)
			if SortNumbers(list); !slices.Equal(list, want) {
				t.Errorf("%d numbers below %d are in another order", n, spread)
			}
		}
	}
}

// TestIndex finds ids wherever they are: counted up from 1, far away, or negative.
func TestIndex(t *testing.T) {
	var x Index[recording.ConnID]
	ids := []recording.ConnID{1, 2, 3, math.MaxInt64, -5, 4, 1_000_000, 0, math.MinInt64}
	for place, id := range ids {
		if got := x.Get(id); got != -1 {
			t.Errorf("id %d has place %d before it was given one", id, got)
		}
		x.Set(id, place)
	}
	for place, id := range ids {
		if got := x.Get(id); got != place {
			t.Errorf("id %d has place %d, want %d", id, got, place)
		}
	}
	if len(x.near) > 10_000 {
		t.Errorf("%d ids take a list of %d", len(ids), len(x.near))
	}
}
