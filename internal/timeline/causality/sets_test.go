package causality

import (
	"strings"
	"testing"
)

// TestSets: work belongs to the owner of any member of its set. In a drawing, "12" says that 1 and 2 belong to one
// owner, "1A" that 1 belongs to A, and "*" that there is work, from 5 on, that was not seen to be done.
func TestSets(t *testing.T) {
	for _, proof := range []struct{ because, drawing, owners string }{
		{"nothing is known", "", "-----"},
		{"what is known of one is known of all", "12 23 1A", "-AAA-"},
		{"in whatever order it becomes known", "1A 12 23", "-AAA-"},
		{"two sets, two owners", "12 34 2A 3B", "-AABB"},
		{"they are one set: that is a contradiction, and nobody's", "12 34 2A 3B 14", "-----"},
		{"a contradiction is not mended by what comes later", "1A 1B 12 2B", "-----"},
		{"the same said twice is none", "1A 12 2A 21", "-AA--"},
		{"what was made joins two", "* 15 52 2A", "-AA--"},
		{"what is of nobody else is of itself", "* 15 52", "-----"},
	} {
		s := NewSets[int32, int32](5)
		for _, step := range strings.Fields(proof.drawing) {
			switch {
			case step == "*":
				if w := s.Make(); w != 5 || !s.Made(w) || s.Made(4) {
					t.Errorf("work %d is made", w)
				}
			case step[1] >= 'A':
				s.Claim(int32(step[0]-'0'), int32(step[1]))
			default:
				s.Join(int32(step[0]-'0'), int32(step[1]-'0'))
			}
		}
		got := ""
		for w := range int32(5) {
			if o := s.Owner(w); o != Nobody {
				got += string(rune(o))
			} else {
				got += "-"
			}
		}
		if got != proof.owners {
			t.Errorf("%s: %s: %s, want %s", proof.because, proof.drawing, got, proof.owners)
		}
		if s.Reset(); len(s.Work) != 0 || s.Make() != 5 || s.Owner(1) != Nobody {
			t.Errorf("%s: something is left", proof.because)
		}
	}
}
