package causality

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// playPool runs a drawing of owners that ask for calls, with a sign for each step, and returns the owner of each
// call, in order; "!": it is proven.
//
//	A    A asks for a call, and waits
//	+X   a call is sent in the turn of X; the line decides its owner
//	-A   a call of A is answered
//	/AB  A is over, in the turn of B; "/A-": of no known owner
func playPool(p *Pool[rune, rune], drawing string) string {
	owner := func(sign byte) rune {
		if sign == '-' {
			return Nobody
		}
		return rune(sign)
	}
	for i, step := range strings.Fields(drawing) {
		at := recording.Time(i + 1)
		switch step[0] {
		case '+':
			o, since := p.Grant(rune(step[1]), at)
			p.Guess(Guess[rune, rune]{Call: rune(i), Owner: o, Since: since})
			if o != Nobody {
				p.Sent(o, at)
			}
		case '-':
			p.Answered(rune(step[1]))
		case '/':
			p.Over(owner(step[1]), owner(step[2]), at)
		default:
			p.Line.Rejoin(rune(step[0]), at)
		}
	}
	var calls []string
	for _, g := range p.Guesses {
		switch {
		case g.Owner == Nobody:
			calls = append(calls, "-")
		case p.Proven[g.Owner]:
			calls = append(calls, string(g.Owner)+"!")
		default:
			calls = append(calls, string(g.Owner))
		}
	}
	return strings.Join(calls, " ")
}

// TestPool: calls belong to the first owner in line, and the ends of owners confirm or correct that.
func TestPool(t *testing.T) {
	for _, proof := range []struct {
		because string
		atOnce  int
		drawing string
		owners  string
	}{
		{"first come, first served, whoever's turn it is", 1, "A B +X +X", "A B"},
		{"nobody waits: it is of whose turn it is", 1, "+X", "X"},
		{"over in the turn of its own last call: proven", 1, "A B +X +X -A /AA", "A! B"},
		{"over in another's: that one stands still, and what seemed to be of the first is its", 1, "A B +X +X -A /BA", "- A"},
		{"what was mended proves nothing", 1, "A B +X +X -A /BA -A /AA", "- A"},
		{"nor does what was under way meanwhile", 1, "A B C +X +X +X -A /BA -C /CC", "- A C"},
		{"over in a turn of nobody known: taken back", 1, "A +X /A-", "-"},
		{"one that makes two at once may want another: it is not known whose it is", 2, "+X +Y", "X -"},
		{"but what is sent in its own turn is its", 2, "+X +X", "X X"},
		{"its end confirms the last of them alone", 2, "+X +X -X -X /XX", "X X"},
	} {
		p := NewPool[rune, rune](func(rune) int { return proof.atOnce })
		if got := playPool(p, proof.drawing); got != proof.owners {
			t.Errorf("%s: %s: the calls are of %q, want %q", proof.because, proof.drawing, got, proof.owners)
		}
	}
}

// TestConfirmed: if one end contradicts the guesses about a pool, nine others must confirm them.
func TestConfirmed(t *testing.T) {
	p := NewPool[rune, rune](func(rune) int { return 1 })
	if playPool(p, "A B +X +X -A /BA -A /AA"); p.Confirmed() {
		t.Error("nothing confirms it")
	}
	for i, o := range "CDEFGHIJK" {
		playPool(p, strings.ReplaceAll("O +X -O /OO", "O", string(o)))
		if got, want := p.Confirmed(), i == 8; got != want {
			t.Errorf("%d confirm it: %v, want %v", i+1, got, want)
		}
	}
}
