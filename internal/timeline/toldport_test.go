package timeline

import "testing"

// Messages come as the loop wakes, and in a busy one after reads of any connections, too; the handle of a connection
// calls back after reads of that, a timer that fires again and again after timers ran.
func TestIDsUnderWhichMessagesCome(t *testing.T) {
	const asleep, timers = int32(-3), noConn
	for name, c := range map[string]struct {
		after []int32 // what was before, by message, twelve in all: repeated
		want  bool
	}{
		"always as the loop wakes":      {[]int32{asleep}, true},
		"often, else after any":         {[]int32{asleep, 1, 2, 3}, true},
		"seldom as it wakes":            {[]int32{1, 2, 3, 4, 5, 6}, false},
		"after reads of its connection": {[]int32{4, 4, 4, asleep}, false},
		"after timers":                  {[]int32{timers, timers, asleep}, false},
	} {
		var moves []move
		for i := range 12 {
			moves = append(moves, move{kind: moveBlock, conn: noConn})
			switch conn := c.after[i%len(c.after)]; conn {
			case asleep:
			case timers:
				moves = append(moves, move{kind: moveBoundary, conn: noConn})
			default:
				moves = append(moves, move{kind: moveAnswer, conn: conn})
			}
			moves = append(moves, move{kind: moveFired, exec: 7, conn: noConn}, move{kind: moveFired, exec: 8, done: true, conn: noConn})
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
