package causality

import (
	"strings"
	"testing"
)

// TestDeal: owners A, B, C asked for calls in this order. "A2" made two, "A?" any number, "A1+" at least one. Each
// word of the result is a call: the owners that may have made it.
func TestDeal(t *testing.T) {
	for _, proof := range []struct {
		because  string
		portions string
		calls    int
		makers   string
	}{
		{"all numbers are known", "A2 B0 C1", 3, "A A C"},
		{"what is left over is of who is not known", "A1 B? C1", 4, "A B B C"},
		{"nothing is left over", "A1 B? C1", 2, "A C"},
		{"one alone made all, however many", "A?", 2, "A A"},
		{"two of whom nothing is known: either", "A? B?", 2, "AB AB"},
		{"the first of these asked for one, so the first is its", "A1+ B?", 2, "A AB"},
		{"both ends are known, the middle is not", "A1 B? C? D1", 4, "A BC BC D"},
		{"who made none made none of the middle", "A? B0 C1", 2, "A C"},
		{"more than all made", "A1 B1", 3, ""},
		{"fewer than all made", "A2 B?", 1, ""},
		{"nobody made any", "", 1, ""},
	} {
		var portions []Portion
		for _, p := range strings.Fields(proof.portions) {
			portions = append(portions, map[string]Portion{"?": AtLeast(0), "1+": AtLeast(1), "0": Exactly(0), "1": Exactly(1), "2": Exactly(2)}[p[1:]])
		}
		var calls []string
		for _, m := range Deal(proof.calls, portions) {
			calls = append(calls, "ABCD"[m.First:m.Last+1])
		}
		if got := strings.Join(calls, " "); got != proof.makers {
			t.Errorf("%s: %d calls of %s are of %q, want %q", proof.because, proof.calls, proof.portions, got, proof.makers)
		}
	}
}
