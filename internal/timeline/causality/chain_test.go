package causality

import (
	"strings"
	"testing"
)

// link runs a drawing of what strands do, and returns the owners of calls 1 to 9, as many as were sent.
//
//	rA  bytes of A are read                      wA  A is responded to
//	s1  call 1 is sent, on a connection of its   a1  its answer is read
//	    own; s21: call 2, on that of call 1      .   the strand sleeps
//	o5  connection 5 is opened                   h5  and something read there, before any call
//
// What the second strand does has an apostrophe.
func link(l *Chain[rune, rune], drawing string) (owners string) {
	calls := ""
	for _, step := range strings.Fields(drawing) {
		l.On(strings.Count(step, "'"))
		step = strings.Trim(step, "'")
		if step == "." {
			l.Sleep()
			continue
		}
		who, conn := rune(step[1]), rune(step[len(step)-1])
		switch step[0] {
		case 'r':
			l.Come(who)
		case 'w':
			l.Respond(who, false)
		case 'o':
			l.Open(conn)
		case 'h':
			l.Opening(conn)
		case 's':
			l.Send(who, conn, Nobody)
			calls += string(who)
		case 'a':
			l.Free(conn)
			l.Answer(who)
		}
	}
	l.Bridge()
	for _, c := range calls {
		if o, known := l.Owner[c]; known {
			owners += string(o)
		} else {
			owners += "-"
		}
	}
	return owners
}

// TestChain: what a strand sends follows from what it read right before.
func TestChain(t *testing.T) {
	for _, proof := range []struct {
		because, drawing string
		trust            Trust
		rest             bool
		owners           string
	}{
		{because: "of whose bytes were read; then of whose answer was", drawing: "rA s1 . a1 s2 . a2 wA", owners: "AA"},
		{because: "of two that were read one has sent it", drawing: "rA rB s1", owners: "-"},
		{because: "one had led to a call already", drawing: "rA s1 rB s2", owners: "AB"},
		{because: "nobody's bytes were read: a timer's", drawing: "rA . s1", owners: "-"},
		{because: "A may wait for a timer that fires right now; most services have none", drawing: "rA . rB s1", owners: "B"},
		{because: "they have", drawing: "rA . rB s1", trust: Strictly, owners: "-"},
		{because: "but A waits for its call", drawing: "rA s1 . rB s2", trust: Strictly, owners: "AB"},
		{because: "or is over", drawing: "rA . wA rB s1", trust: Strictly, owners: "B"},
		{because: "what was read has led to one call; the other may be of a timer", drawing: "rA . rB s1 s2", trust: Once, owners: "B-"},
		{because: "B may have waited for the connection", drawing: "rA s1 . rB . a1 s21", owners: "A-"},
		{because: "who had has sent it before the strand slept", drawing: "rA s1 . rB . a1 . rC s21", owners: "AC"},
		{because: "nobody has", drawing: "rA s1 . a1 s21", owners: "AA"},
		{because: "who opened a connection sends the first call there", drawing: "rA o5 . rB . h5 s15", owners: "A"},
		{because: "A waits for its call, so it is B who sends", drawing: "rA s1 . rB . s2", rest: true, owners: "AB"},
		{because: "it may be C", drawing: "rA s1 . rB . rC . s2", rest: true, owners: "A-"},
		{because: "each strand has read its own", drawing: "rA rB' s1 s2'", owners: "AB"},
		{because: "what is sent between two of A's, each after the answer before, is A's; that 3 is, its response tells", drawing: "rA s1 . rB . a1 s2 . a2 s3 . a3 wA", trust: Strictly, owners: "AAA"},
	} {
		if got := link(NewChain[rune, rune](proof.trust, proof.rest), proof.drawing); got != proof.owners {
			t.Errorf("%s: %s: %s, want %s", proof.because, proof.drawing, got, proof.owners)
		}
	}
}

// TestWhatResponsesSayOfAChain: a response is written in the turn in which an answer to a call of its own owner was
// read.
func TestWhatResponsesSayOfAChain(t *testing.T) {
	for drawing, want := range map[string]struct{ right, odd, told int }{
		"rA s1 . a1 wA":      {1, 0, 0},
		"rA s1 . rB . a1 wB": {0, 1, 0},
		"rA . s1 . a1 wA":    {0, 0, 1}, // the call's owner is not known, and only A seemed to do nothing
		"rA s1 . a1 . wA":    {},        // it waited for something else
	} {
		l := NewChain[rune, rune](Freely, false)
		link(l, drawing)
		if l.Said != (Tally{want.right + want.odd, want.odd}) || l.Told != want.told {
			t.Errorf("%s: %+v, %d are told, want %+v", drawing, l.Said, l.Told, want)
		}
	}
}

// A response in the turn of an answer with no other evidence decides the owner of that answer's call. It counts as
// proof if threads share tasks: behind a semaphore there is hardly any other proof.
func TestWhatMakesAChainBelieved(t *testing.T) {
	for _, x := range []struct {
		name                                string
		share                               bool
		owners, confirmed, told, contradict int
		want                                bool
	}{
		{"every fourth is confirmed", false, 100, 25, 0, 0, true},
		{"too few are", false, 100, 24, 70, 0, false},
		{"the others are told, of threads that share tasks", true, 100, 24, 70, 0, true},
		{"none but those that are told", true, 100, 0, 100, 0, false},
		{"one says otherwise", true, 100, 24, 70, 1, false},
	} {
		l := Chain[rune, rune]{Said: Tally{All: x.confirmed + x.contradict, Odd: x.contradict}, Told: x.told, Owner: map[rune]rune{}}
		for i := range x.owners {
			l.Owner[rune(i)] = rune(i)
		}
		if got := l.Believed(x.share); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
