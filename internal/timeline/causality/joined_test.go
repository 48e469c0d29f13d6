package causality

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// playJoined runs a drawing of owners, some of which wait for another owner's call, with a sign for each step. It
// returns the owners of the calls that are sent in the turn of an answer.
//
//	A   A comes: its turn runs; X, Y and Z are of another kind    .  nothing more is done for now
//	+1  the owner of the running turn sends call 1                /A A is over
//	-12 call 1 is answered, and in that turn 2 calls are sent     ?  one of them: which owner's is it?
//
// "=" is the owner of the running turn, "-" no known owner.
func playJoined(j *Joined[rune, rune], tells bool, drawing string) string {
	p := j.places
	p.Begin(Count)
	j.Begin(!tells, tells)
	var got []string
	owner, turn := map[rune]rune{}, rune(Nobody)
	for i, step := range strings.Fields(drawing) {
		sign, next, at := rune(step[0]), rune(Nobody), recording.Time(i)
		switch sign {
		case '+':
			owner[rune(step[1])] = turn
			p.Send(rune(step[1]), "peer", turn, true)
			continue
		case '/':
			p.Over(rune(step[1]))
			continue
		case '?':
			if o, decided := j.Next(); !decided {
				got = append(got, "=")
			} else if o == Nobody {
				got = append(got, "-")
			} else {
				got = append(got, string(o))
			}
			continue
		}
		p.End(turn, false)
		j.End()
		switch sign {
		case '.':
			p.Sleeps()
			p.Turn(turn, next, at, 0)
		case '-':
			next = owner[rune(step[1])]
			p.Answer(rune(step[1]), "peer")
			p.Turn(turn, next, at, 0)
			j.Answer(next, int(step[2]-'0'))
		default:
			next = sign
			p.Come(next, map[bool]string{true: "another", false: "usual"}[next >= 'X'])
			p.Turn(turn, next, at, 0)
		}
		turn = next
	}
	return strings.Join(got, " ")
}

// TestJoined: every owner that goes on when a call is answered sends one call then.
func TestJoined(t *testing.T) {
	for _, proof := range []struct{ because, drawing, owners string }{
		{"one is sent: of whose call was answered", "A +1 . B . -11 ?", "="},
		{"nobody else waits", "A +1 . -12 ? ?", "= ="},
		{"B waits for the same", "A +1 . B . -12 ? ?", "A B"},
		{"who came first goes on first", "A +1 . C . B . -13 ? ? ?", "A C B"},
		{"not who is over", "A +1 . B . /B -12 ? ?", "= ="},
		{"not who waits for a call of its own", "A +1 . B +2 . C . -12 ? ?", "A C"},
		{"too many for those who wait", "A +1 . B . -13 ? ? ?", "- - -"},
		{"who waits is of another kind: it is not known what it does", "A +1 . X . -12 ? ?", "- -"},
		{"nobody saw what that kind does then", "X +1 . Y . -12 ? ?", "- -"},
	} {
		j := NewJoined(NewPlaces[rune, rune]())
		playJoined(j, false, "A +1 . -11 /A . B +2 . -21 /B . C +3 . -31 /C . D +4 . -41 /D . E +5 . -51 /E .")
		if got := playJoined(j, true, proof.drawing); got != proof.owners {
			t.Errorf("%s: %s: %q, want %q", proof.because, proof.drawing, got, proof.owners)
		}
	}
}
