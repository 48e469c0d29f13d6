package build

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// Messages come as the loop wakes, and in a busy one after reads of any connections, too; the handle of a connection
// calls back after reads of that, a timer that fires again and again after timers ran.
func TestIDsUnderWhichMessagesCome(t *testing.T) {
	const asleep, timers = int32(-3), loops.NoConn
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

// TestCallsOfToldTurns: where promises are seen to be resolved, a call is of the request in whose
// turn it was sent, but for those that waited for a connection: these are of who stood first in
// line, or of whom their own id tells.
func TestCallsOfToldTurns(t *testing.T) {
	for name, c := range map[string]struct {
		play  toldPlay
		conns int
		least int // percent of the calls that are given to a request
		most  int
	}{
		"one after the other":                {toldPlay{rounds: []int{1, 1, 1}}, 9, 99, 100},
		"several at once":                    {toldPlay{rounds: []int{3, 1, 2}}, 9, 99, 100},
		"branches":                           {toldPlay{rounds: []int{3}, branches: true}, 9, 99, 100},
		"after the thread pool":              {toldPlay{rounds: []int{2, 2}, jobs: true}, 9, 99, 100},
		"after a file":                       {toldPlay{rounds: []int{1, 2, 1}, jobs: true, files: true}, 9, 99, 100},
		"after a worker":                     {toldPlay{rounds: []int{1, 2, 1}, jobs: true, worker: true, calm: 4}, 19, 99, 100},
		"after one of three workers":         {toldPlay{rounds: []int{1, 2, 1}, jobs: true, ports: 3, calm: 6}, 19, 99, 100},
		"after one, promises with ids":       {toldPlay{rounds: []int{1, 1, 1}, jobs: true, ports: 3, calm: 6, named: true}, 19, 99, 100},
		"beside what nobody waits for":       {toldPlay{rounds: []int{1, 2, 1}, jobs: true, pings: true, calm: 4}, 19, 99, 100},
		"two in one callback":                {toldPlay{rounds: []int{1, 1, 1}, jobs: true, pairs: true, calm: 3}, 19, 99, 100},
		"promises with ids":                  {toldPlay{rounds: []int{2, 3, 1}, named: true}, 9, 99, 100},
		"in a queue of the program's own":    {toldPlay{rounds: []int{3}, named: true, queued: true}, 8, 99, 100},
		"one each, in such a queue":          {toldPlay{rounds: []int{1}, named: true, queued: true}, 3, 99, 100},
		"after a call for several":           {toldPlay{rounds: []int{1, 2}, once: true}, 9, 95, 100},
		"after a token for several":          {toldPlay{rounds: []int{1, 2, 1}, once: true, valid: 5}, 9, 96, 100},
		"branches, in line":                  {toldPlay{rounds: []int{3}, branches: true}, 5, 99, 100},
		"in line":                            {toldPlay{rounds: []int{1, 1, 1}}, 4, 99, 100},
		"in line for one connection":         {toldPlay{rounds: []int{1, 1}, jobs: true, calm: 1}, 1, 99, 100},
		"several at once, in line":           {toldPlay{rounds: []int{2, 1, 2}}, 4, 95, 100},
		"in line, the last first":            {toldPlay{rounds: []int{2, 1, 2}, last: true}, 4, 0, 90},
		"in line, the last first, by own id": {toldPlay{rounds: []int{2, 1, 2}, last: true, itself: true}, 4, 99, 100},
	} {
		p := &c.play
		tl := parsed(t, []byte(p.play(300, c.conns)))
		given, all := 0, 0
		for i := range tl.Calls {
			call := &tl.Calls[i]
			if call.Conn == 99 {
				if call.Request != timeline.None {
					t.Errorf("%s: a call of nobody's is given to the request of %s", name, tl.Requests[call.Request].Peer)
				}
				continue
			}
			all++
			if call.Request == timeline.None {
				continue
			}
			given++
			if want := p.truth[int(call.Conn-20)%100][call.Ordinal]; tl.Requests[call.Request].Peer != fmt.Sprintf("127.0.0.1:%d", 10000+want) {
				t.Errorf("%s: call %d of connection %d is given to the request of %s by %s, want that of port %d", name, call.Ordinal, call.Conn, tl.Requests[call.Request].Peer, call.Why, 10000+want)
			}
		}
		if share := 100 * given / max(1, all); share < c.least || share > c.most {
			t.Errorf("%s: of %d calls %d were given to a request (%d %%), want %d to %d %%", name, all, given, share, c.least, c.most)
		}
	}
}
