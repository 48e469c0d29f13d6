package causality

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// playPlaces runs a drawing of owners that send calls to one peer, with a sign for each step. It returns the owners
// of the calls whose sender is asked for.
//
//	A   A comes, or goes on: its turn runs     +1  the turn's owner sends call 1
//	-1  call 1 is answered: its owner's turn   ?1  call 1 is sent: which owner's is it?
//	/A  A is over                              =1A call 1 is sent, and known to be A's
//	.   nothing more is done for now
//
// For call 1, "=" says that no line decides: it belongs to the owner of the running turn; "-" says that its owner is
// not known.
func playPlaces(p *Places[rune, rune], pass Pass, drawing string) string {
	p.Begin(pass)
	var got []string
	owner, turn := map[rune]rune{}, rune(Nobody)
	for i, step := range strings.Fields(drawing) {
		sign, next := rune(step[0]), rune(Nobody)
		switch sign {
		case '+', '?', '=':
			o, call := turn, rune(step[1])
			if sign == '=' {
				o = rune(step[2])
			}
			if sign == '?' {
				first, decided := p.First(call, "peer")
				switch {
				case !decided:
					got = append(got, "=")
				case first == Nobody:
					o, got = first, append(got, "-")
				default:
					o, got = first, append(got, string(first))
				}
			}
			p.Send(call, "peer", o, o == turn)
			owner[call] = o
			continue
		case '/':
			p.Over(rune(step[1]))
			continue
		}
		p.End(turn, false)
		switch sign {
		case '.':
			p.Sleeps()
		case '-':
			next = owner[rune(step[1])]
			p.Answer(rune(step[1]), "peer")
		default:
			next = sign
			p.Come(next, map[bool]string{true: "never seen", false: "usual"}[next >= 'X'])
		}
		p.Turn(turn, next, recording.Time(i), 0)
		turn = next
	}
	return strings.Join(got, " ")
}

// TestPlaces: at most two calls run at once, and each owner sends one when it comes, if there is room.
func TestPlaces(t *testing.T) {
	const full = "A +1 B +2 . "
	for _, proof := range []struct{ because, drawing, owners string }{
		{"nobody waits: it is of whose turn runs", full + "-1 ?3", "="},
		{"who came, and sent nothing, has waited for it", full + "C . -1 ?3", "C"},
		{"who has waited longest gets the next", full + "C . D . -1 /A ?3 . -2 /B ?4", "C D"},
		{"who is over waits no longer", full + "C . D . /C -1 ?3", "D"},
		{"what is known to be its own is that which it waited for", full + "C . -1 /A =3C . -2 /B ?4", "="},
		{"somebody came of whom it is not known what he asks for: he may wait, or not", full + "X . -1 ?3", "-"},
		{"as long as there may be no room", full + "X . -1 /A . -2 /B . D ?3", "="},
	} {
		p := NewPlaces[rune, rune]()
		playPlaces(p, Count, full)
		playPlaces(p, LearnRoom, "A +1 . -1 /A . B +2 . -2 /B . C +3 . -3 /C . D +4 . -4 /D . E +5 . -5 /E .")
		if got := playPlaces(p, GiveFirst, proof.drawing); got != proof.owners {
			t.Errorf("%s:\n%s: %q, want %q", proof.because, proof.drawing, got, proof.owners)
		}
	}
}

// TestRoomThatIsLearnedFrom: with a peer that answers one call at a time, what owners ask for is learned only if no
// other owner was there to take the place.
func TestRoomThatIsLearnedFrom(t *testing.T) {
	const (
		alone  = "A +1 . -1 /A . B +2 . -2 /B . C +3 . -3 /C . D +4 . -4 /D . E +5 . -5 /E ."
		beside = "Q . " + alone // Q came first, and stands
	)
	for _, proof := range []struct {
		because, drawing string
		pass             Pass
		owner            string
	}{
		{"a pool of one is always full: there is no room", alone, LearnRoom, "-"},
		{"but nobody else was there", alone, LearnAlone, "B"},
		{"one who stood may have taken it", beside, LearnAlone, "-"},
	} {
		p := NewPlaces[rune, rune]()
		playPlaces(p, Count, alone)
		playPlaces(p, proof.pass, proof.drawing)
		if got := playPlaces(p, GiveFirst, "A +1 . B . -1 /A ?2"); got != proof.owner {
			t.Errorf("%s: %q, want %q", proof.because, got, proof.owner)
		}
	}
}

// TestMostUnderWay: how many calls one owner of a kind has at once.
func TestMostUnderWay(t *testing.T) {
	p := NewPlaces[rune, rune]()
	playPlaces(p, Count, "A +1 B +2 +3 . -2 +4 . -1 /A")
	if p.Most["usual"] != 2 || p.Open() != 1 {
		t.Errorf("at most %d at once, want 2; %d are open, want B alone", p.Most["usual"], p.Open())
	}
}
