package causality

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// play runs a drawing of a line, with a sign for each step, and returns the owner that got each grant.
//
//	A  A joins, for one grant        A3  for three
//	a  A leaves                      !   one grant
//	=A one that A is known to have got
//
// Time advances with each step. "-": the line was empty.
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
		case c == '=':
			give(l.GrantTo(rune(step[1])))
		case c >= 'a':
			l.Leave(c - 'a' + 'A')
		default:
			n := 1
			if len(step) > 1 {
				n = int(step[1] - '0')
			}
			l.Join(Waiter[rune]{Owner: c, Since: recording.Time(i), Grants: n})
		}
	}
	return strings.Join(got, " ")
}

// TestLine: each grant goes to the owner that has waited longest.
func TestLine(t *testing.T) {
	for _, proof := range []struct{ because, drawing, owners string }{
		{"first come, first served", "A B C ! ! !", "A B C"},
		{"nobody waits: the grant is nobody's", "A ! ! B !", "A - B"},
		{"who left gets none, wherever in line", "A B C b a !", "C"},
		{"who comes back is the last", "A B a A ! !", "B A"},
		{"who waits for three is served three times before the next", "A3 B ! ! ! !", "A A A B"},
		{"and waits for two still, if one is known to have come to it", "A3 B =A ! ! !", "A A A B"},
		{"two places of one: each in its turn", "A B A ! ! !", "A B A"},
		{"what is known to be another's takes that one's place, not the first", "A B C =B ! !", "B A C"},
		{"of two places of one the earlier is taken", "B A C A =A ! ! !", "A B C A"},
		{"what is known to be of one that does not wait is in no line", "A =B !", "- A"},
	} {
		var l Line[rune]
		if got := play(&l, proof.drawing); got != proof.owners {
			t.Errorf("%s: %s: the owners are %s, want %s", proof.because, proof.drawing, got, proof.owners)
		}
	}
}

// TestLineInOrderOfSince: the order is that of waiting, and not of becoming known.
//
//	waits since   1   2   3
//	              B   A   C
//	known         second, first, third
func TestLineInOrderOfSince(t *testing.T) {
	var l Line[rune]
	l.Join(Waiter[rune]{Owner: 'A', Since: 2})
	l.Join(Waiter[rune]{Owner: 'B', Since: 1})
	l.Join(Waiter[rune]{Owner: 'C', Since: 3})
	if got := play(&l, "! ! !"); got != "B A C" {
		t.Errorf("the owners are %s, want B A C", got)
	}
	l.Join(Waiter[rune]{Owner: 'A', Since: 2})
	l.Join(Waiter[rune]{Owner: 'A', Since: 1})
	if w, _ := l.Grant(); w.Since != 1 {
		t.Errorf("of two places of one that since %d is served first, want 1", w.Since)
	}
}

// TestRejoin: an owner that can wait for only one thing has one place, the latest.
func TestRejoin(t *testing.T) {
	var l Line[rune]
	l.Rejoin('A', 1)
	l.Rejoin('B', 2)
	l.Rejoin('A', 3)
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

// TestLineForgets: a place that is left in the middle is not kept, however long the head waits.
func TestLineForgets(t *testing.T) {
	var l Line[int]
	l.Rejoin(0, 0)
	for i := range 10_000 {
		l.Rejoin(1+i, recording.Time(1+i))
		l.Leave(1 + i)
	}
	if n := len(l.places); n > 2*slack {
		t.Errorf("%d places are kept for one that waits", n)
	}
	if w, ok := l.Head(); !ok || w.Owner != 0 {
		t.Errorf("the head is %d (%v), want 0", w.Owner, ok)
	}
}
