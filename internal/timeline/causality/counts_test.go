package causality

import (
	"strings"
	"testing"
)

// TestCounts: how many calls an owner makes at a point follows from how many several owners made together. A letter
// is an owner that goes on at that point. "AAB 5" says that two owners at A and one at B made 5 calls together, and
// "?" that other owners may have made some of them.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		because string
		seen    string // repeated as often as counts need
		known   map[string]int
	}{
		{"one alone shows it", "A 2", map[string]int{"A": 2}},
		{"one that makes none", "A 0", map[string]int{"A": 0}},
		{"what is left over is the other's", "A 2, AB 5", map[string]int{"A": 2, "B": 3}},
		{"two together, in two ways", "AB 3, AAB 4", map[string]int{"A": 1, "B": 2}},
		{"always together: either may be the one's and the other's", "AB 3", nil},
		{"the same number each is not in doubt", "AB 2", map[string]int{"A": 1, "B": 1}},
		{"now two and now three: neither", "A 2, A 3", nil},
		{"others may have made some", "A 2, A? 3", map[string]int{"A": 2}},
		{"but nobody made less", "A 2, A? 1", nil},
	} {
		counts := NewCounts(func(string) int { return 1 })
		for equation := range strings.SplitSeq(c.seen, ", ") {
			points, n, _ := strings.Cut(equation, " ")
			points, loose := strings.CutSuffix(points, "?")
			for range 10 {
				counts.Saw(strings.Split(points, ""), int(n[0]-'0'), loose)
			}
		}
		counts.Solve()
		counts.Learning = false
		for _, point := range []string{"A", "B"} {
			want, tells := c.known[point]
			if got, known := counts.At(point); known != tells || known && got != want {
				t.Errorf("%s: %s: at %s it is %d (known: %v), want %d (%v)", c.because, c.seen, point, got, known, want, tells)
			}
		}
	}
}

// TestCountsSeenSeldom: what was seen a few times is good only for learning more.
func TestCountsSeenSeldom(t *testing.T) {
	counts := NewCounts(func(string) int { return 1 })
	for range manySeen - 1 {
		counts.Saw([]string{"A"}, 2, false)
	}
	if more := counts.Solve(); !more {
		t.Error("nothing new is known")
	}
	if n, known := counts.At("A"); n != 2 || !known {
		t.Errorf("while learning it is taken for %d (%v)", n, known)
	}
	counts.Learning = false
	if n, known := counts.At("A"); known {
		t.Errorf("it is taken for %d", n)
	}
}
