package lists

import (
	"sort"
	"testing"
)

func TestNear(t *testing.T) {
	for n := range 40 {
		for from := range n + 1 {
			for at := from; at <= n; at++ {
				if got := Near(n, from, func(k int) bool { return k >= at }); got != at {
					t.Fatalf("from %d of %d: got %d, want %d", from, n, got, at)
				}
			}
			if got, want := Near(n, from, func(int) bool { return true }), from+sort.Search(n-from, func(int) bool { return true }); got != want {
				t.Fatalf("at once, from %d of %d: got %d, want %d", from, n, got, want)
			}
		}
	}
}
