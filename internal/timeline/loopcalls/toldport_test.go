package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline/loops"
)

// Messages come when the loop wakes, and in a busy loop also after reads of any connection. The handle of a
// connection calls back after reads of that connection, and a timer that fires again and again does so after timers
// ran.
func TestIDsUnderWhichMessagesCome(t *testing.T) {
	const asleep, timers = int32(-3), loops.NoConn
	for name, c := range map[string]struct {
		after []int32 // by message: what came before it; repeated up to twelve messages
		want  bool
	}{
		"always as the loop wakes":      {[]int32{asleep}, true},
		"often, else after any":         {[]int32{asleep, 1, 2, 3}, true},
		"seldom as it wakes":            {[]int32{1, 2, 3, 4, 5, 6}, false},
		"after reads of its connection": {[]int32{4, 4, 4, asleep}, false},
		"after timers":                  {[]int32{timers, timers, asleep}, false},
	} {
		var moves []loops.Move
		for i := range 12 {
			moves = append(moves, loops.Move{Kind: loops.MoveBlock, Conn: loops.NoConn})
			switch conn := c.after[i%len(c.after)]; conn {
			case asleep:
			case timers:
				moves = append(moves, loops.Move{Kind: loops.MoveBoundary, Conn: loops.NoConn})
			default:
				moves = append(moves, loops.Move{Kind: loops.MoveAnswer, Conn: conn})
			}
			moves = append(moves, loops.Move{Kind: loops.MoveFired, Exec: 7, Conn: loops.NoConn}, loops.Move{Kind: loops.MoveFired, Exec: 8, Done: true, Conn: loops.NoConn})
		}
		ports := portIDs(moves, firedAgain(moves))
		if ports[7] != c.want || ports[8] {
			t.Errorf("%s: %v", name, ports)
		}
		if few := moves[:20]; len(portIDs(few, firedAgain(few))) > 0 {
			t.Errorf("%s: few are enough", name)
		}
	}
}
