package causality

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// play plays a drawing of a line, a sign for each step, and returns who got each grant.
//
//	A  A joins      a  A leaves      !  one grant
//
// Time goes on with each step. "-" got it where nobody waited.
func play(l *Line[rune], drawing string) string {
	var got []string
	give := func(w Waiter[rune], ok bool) {
		if !ok {
			w.Owner = '-'
		}
		got = append(got, string(w.Owner))
	}
	for i, step := range strings.Fields(drawing) {
		c := rune(step[0])
		switch {
		case c == '!':
			give(l.Grant())
		case c >= 'a':
			l.Leave(c - 'a' + 'A')
		default:
			l.Join(c, recording.Time(i))
		}
	}
	return strings.Join(got, " ")
}

// TestLine: each grant goes to who waits since longest.
func TestLine(t *testing.T) {
	for _, proof := range []struct{ because, drawing, owners string }{
		{"first come, first served", "A B C ! ! !", "A B C"},
		{"nobody waits: the grant is nobody's", "A ! ! B !", "A - B"},
		{"who left gets none, wherever in line", "A B C b a !", "C"},
		{"who comes back is the last", "A B a A ! !", "B A"},
	} {
		var l Line[rune]
		if got := play(&l, proof.drawing); got != proof.owners {
			t.Errorf("%s: %s: the owners are %s, want %s", proof.because, proof.drawing, got, proof.owners)
		}
	}
}

// TestLineInOrderOfSince: the order is that of waiting, not that of becoming known.
//
//	waits since   1   2   3
//	              B   A   C
//	known         second, first, third
func TestLineInOrderOfSince(t *testing.T) {
	var l Line[rune]
	l.Join('A', 2)
	l.Join('B', 1)
	l.Join('C', 3)
	if got := play(&l, "! ! !"); got != "B A C" {
		t.Errorf("the owners are %s, want B A C", got)
	}
}

// TestJoinAgain: an owner has one place, the latest.
func TestJoinAgain(t *testing.T) {
	var l Line[rune]
	l.Join('A', 1)
	l.Join('B', 2)
	l.Join('A', 3)
	if since, ok := l.Waits('A'); !ok || since != 3 || l.Len() != 2 {
		t.Errorf("A waits since %d (%v) in a line of %d, want since 3 in one of 2", since, ok, l.Len())
	}
	if got := play(&l, "! ! !"); got != "B A -" {
		t.Errorf("the owners are %s, want B A -", got)
	}
	if _, ok := l.Waits('A'); ok {
		t.Error("A waits still, though it got what it waited for")
	}
}

// TestEach: a grant takes its owner off the list, and so does leaving, in any order.
func TestEach(t *testing.T) {
	var l Line[rune]
	play(&l, "A B C D ! c")
	var list []string
	l.Each(func(w Waiter[rune]) { list = append(list, fmt.Sprintf("%c since %d", w.Owner, w.Since)) })
	if got := strings.Join(list, ", "); got != "B since 1, D since 3" {
		t.Errorf("those in line are %q", got)
	}
}

// TestLineForgets: who left from the middle is not kept, however long the head waits.
func TestLineForgets(t *testing.T) {
	var l Line[int]
	l.Join(0, 0)
	for i := range 10_000 {
		l.Join(1+i, recording.Time(1+i))
		l.Leave(1 + i)
	}
	if n := len(l.places); n > 2*slack {
		t.Errorf("%d places are kept for one that waits", n)
	}
	if w, ok := l.Head(); !ok || w.Owner != 0 {
		t.Errorf("the head is %d (%v), want 0", w.Owner, ok)
	}
}
