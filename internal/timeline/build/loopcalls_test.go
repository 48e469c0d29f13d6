package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func TestTimersThatFire(t *testing.T) {
	resolved := func(timer int64) string { return fmt.Sprintf("what=resolved exec=%d", timer) }
	for name, c := range map[string]struct {
		told  func(round int, timer int64) string
		least int // of 66 calls, how many are given to a request
		most  int
	}{
		"seen":          {func(_ int, timer int64) string { return resolved(timer) }, 66, 66},
		"an interval's": {func(int, int64) string { return resolved(102) }, 0, 22},
		"not any longer": {func(round int, timer int64) string {
			switch {
			case round < 10:
				return resolved(timer)
			case round == 10:
				return "what=spent"
			}
			return ""
		}, 60, 66},
	} {
		p := &sleepers{}
		tl := parsed(t, []byte(p.play(11, c.told)))
		slices.SortStableFunc(tl.Calls, func(a, b timeline.Call) int { return int(a.SendFrom - b.SendFrom) })
		given, wrong := 0, 0
		for i, call := range tl.Calls {
			if call.Request == timeline.None {
				continue
			}
			given++
			if tl.Requests[call.Request].Conn != recording.ConnID(10+p.truth[i]) {
				wrong++
			}
		}
		if wrong > 0 || given < c.least || given > c.most || len(tl.Calls) != 66 {
			t.Errorf("timers %s: of %d calls %d were given to requests, %d wrongly", name, len(tl.Calls), given, wrong)
		}
	}
}

// Connections 1 and 2 bring requests, 3 and 4 carry calls. What the loop read before a call shows which request each
// call of a round belongs to, if the loop's responses confirm it.
func TestChainsOfLoops(t *testing.T) {
	const each = ". r1 s3 . r2 s4 . a4 w2 . a3 w1 .' r1' s3' .' r2' s4' .' a4' w2' .' a3' w1' .' " // thread after thread
	for _, x := range []struct {
		name   string
		steps  string
		rounds int
		want   string // per call of a round: the connection of its request; "-" if not known
	}{
		{"a proxy", ". r1 s3 . r2 s4 . a4 w2 . a3 w1 .", 40, "1 2"},
		{"both in one turn, one after the other", ". r1 s3 r2 s4 . a4 w2 a3 w1 .", 40, "1 2"},
		{"a call after a call, beside another's", ". r1 s3 . r2 s4 . a3 s3 . a4 w2 . a3 w1 .", 40, "1 2 1"},
		{"too few to be believed, but of who is alone", ". r1 s3 . r2 s4 . a4 w2 . a3 w1 .", 8, "1 -"},
		{"both are read before either goes on", ". r1 r2 s3 s4 . a4 w2 . a3 w1 .", 40, "- -"},
		{"the same, beside a proxy's", ". r1 r2 s3 s4 . a4 w2 . a3 w1 . r1 s3 . r2 s4 . a4 w2 . a3 w1 .", 40, "1 2 1 2"},
		{"and both answers", ". r1 r2 s3 s4 . a4 a3 w2 w1 .", 40, "- -"},
		{"one waits for a timer, alone", ". r1 . s3 r2 s4 . a4 w2 . a3 w1 .", 40, "1 2"},
		{"one waits for a timer, beside another: its response tells", ". r2 s4 . r1 . s3 . a4 w2 . a3 w1 .", 40, "2 1"},
		{"a pool of one: who waited for it goes on", ". r1 s3 . r2 . a3 s3 w1 . a3 w2 .", 40, "1 -"},
		{"answers of nobody known, read together", ". r1 r2 s3 s4 . a4 a3 w2 w1 . r1 s3 . r2 s4 . a4 w2 . a3 w1 .", 40, "- - 1 2"},
		{"threads that go on with each other's", ". r1 s3 . r2 s4 .' a4' w2' .' a3' w1' .' r1' s3' .' r2' s4' . a4 w2 . a3 w1 .", 40, "1 2 1 2"},
		{"beside them one whose timer fires", each + ". r2 . r1 s3 s4 .' a4' w2' .' a3' w1' .' r2' .' r1' s3' s4' . a4 w2 . a3 w1 .", 40, "1 2 1 2 1 2 1 2"},
		{"beside it two calls at once, while nobody's timer can fire", each + ". r2 . r1 s3 s4 .' a4' w2' .' a3' w1' . r2 o5 s5 . r1 s3 s4 . a3 . a4 w1 . a5 w2 .", 40, "1 2 1 2 1 2 2 1 1"},
		{"calls on the connection that the one before left, beside one that waits: both ends tell", ". r2 . r1 s3 . a3 s3 . a3 s3 . a3 w1 . s4 . a4 w2 . r1 s3 . a3 w1 .", 40, "1 1 1 2 1"},
		{"the same, where the ends differ", ". r2 . r1 s3 . a3 s3 . a3 s3 . a3 w2 . s4 . a4 w1 . r1 s3 . a3 w1 .", 40, "1 - 2 1 1"},
		{"beside threads that share tasks, one whose timer fires while the other waits for a call", each + ". r2 . r1 s3 .' s4' .' a4' .' s4' .' a4' w2' . a3 w1 .", 40, "1 2 1 2 1 2 2"},
		{"the same, where either's timer may fire", each + ". r2 . r1 .' s4' .' a4' .' s4' .' a4' w2' . s3 . a3 w1 .", 40, "1 2 1 2 - 2 1"},
		{"a connection that one opened who did not need it, and another takes", ". r1 o5 s3 . a3 w1 . r1 s3 . r2 s5 . a5 w2 . a3 w1 .", 40, "1 1 2"},
		{"threads of which each serves its own", each, 40, "1 - 1 -"},
		{"a connection for each call, whose end the proxy waits for", ". r1 o5 s5 . r2 o6 s6 . a6 . e6 w2 . a5 . e5 w1 .", 40, "1 2"},
		{"the same, where responses say otherwise", ". r1 o5 s5 . r2 o6 s6 . a6 . e6 w1 . a5 . e5 w2 .", 40, "1 -"},
		{"responses that say otherwise", ". r1 s3 . r2 s4 . a4 w1 . a3 w2 .", 40, "1 -"},
	} {
		t.Run(x.name, func(t *testing.T) {
			tl := parsed(t, []byte(chainStory(x.rounds, x.steps)))
			calls := len(strings.Fields(x.want))
			counts := map[string]int{}
			for i := 0; i+calls <= len(tl.Calls); i += calls {
				var got []string
				for _, c := range tl.Calls[i : i+calls] {
					who := "-"
					if c.Request != timeline.None {
						who = strings.TrimPrefix(tl.Requests[c.Request].Endpoint, "GET /of-")
					}
					got = append(got, who)
				}
				counts[strings.Join(got, " ")]++
			}
			if counts[x.want] < x.rounds-1 {
				t.Errorf("want %s, got %v", x.want, counts)
			}
		})
	}
}

// TestPoolOrder: the request that asks first gets the connection that becomes free, and each request's answer, in the
// turn of its own last call, confirms this. A pool that serves the last one first does not count as ordered: its calls
// stay unassigned.
func TestPoolOrder(t *testing.T) {
	oldest := func([]int) int { return 0 }
	newest := func(line []int) int { return len(line) - 1 }
	for name, c := range map[string]struct {
		next  func([]int) int
		spare int
		naps  bool
		told  bool
	}{
		"first come, first served": {oldest, 0, false, true}, "last come, first served": {newest, 0, false, false},
		"first come, who sleeps between": {oldest, 0, true, true}, "last come, who sleeps between": {newest, 0, true, false},
		"a limit of the application's": {oldest, 3, false, true}, "a limit, last come, first served": {newest, 3, false, false},
	} {
		text, truth := (&fullPool{next: c.next, spare: c.spare, naps: c.naps}).play()
		tl := parsed(t, []byte(text))
		slices.SortStableFunc(tl.Calls, func(a, b timeline.Call) int { return int(a.SendFrom - b.SendFrom) })
		given := 0
		for i, call := range tl.Calls {
			if call.Why != timeline.WhyInLine {
				continue
			}
			given++
			if r := tl.Requests[call.Request].Conn; r != recording.ConnID(10+truth[i]) {
				t.Errorf("%s: call %d was given to the request on connection %d, and is of that on %d", name, i, r, 10+truth[i])
			}
			if i >= 2 && call.Phases[timeline.PhaseQueue] == 0 {
				t.Errorf("%s: call %d has not waited for its connection", name, i)
			}
		}
		if told := given >= 28; told != c.told || !told && given > 0 {
			t.Errorf("%s: %d of %d calls were given to requests in line", name, given, len(tl.Calls))
		}
	}
}

// TestCallsOfToldTurns: if promises are seen to be resolved, a call belongs to the request in whose turn it was sent.
// Calls that waited for a connection are the exception: they belong to the request that was first in line, or that
// their own id names.
func TestCallsOfToldTurns(t *testing.T) {
	for name, c := range map[string]struct {
		play  toldPlay
		conns int
		least int // percentage of the calls that are given to a request
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

// chainStory plays steps of a loop without ids for a number of rounds. A step is a letter followed by the request of
// the round (1 or 2) or, for calls, the connection: read and respond, send and answer. Connections 5 and 6 are opened,
// and their ends read; "." is a sleep. An apostrophe after a step means that the second thread did it.
func chainStory(rounds int, steps string) string {
	text := `1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=native comm=proxy
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 state=sleep syscall=epoll_wait
1ms thread-state thread=2 state=sleep syscall=epoll_wait
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5002
1ms conn id=3 side=out process=1 existing=1 local=127.0.0.1:6001 peer=10.0.0.1:8080
1ms conn id=4 side=out process=1 existing=1 local=127.0.0.1:6002 peer=10.0.0.1:8080
`
	var in, out [100]int
	ids := [7]int{0, 1, 2, 3, 4, 5, 6}
	at, slept := 1000, 1000
	say := func(format string, args ...any) {
		text += fmt.Sprintf("%dus ", at) + fmt.Sprintf(format, args...) + "\n"
	}
	for range rounds {
		for _, step := range strings.Fields(steps) {
			at += 100
			thread, conn := 1, 0
			if strings.HasSuffix(step, "'") {
				thread = 2
			}
			if step[0] != '.' {
				conn = ids[step[1]-'0']
			}
			switch step[0] {
			case '.':
				say("off thread=%d since=%dus woken=%dus syscall=epoll_wait", thread, max(slept, at-90), at-10)
			case 'o': // under another name each time
				conn += 2
				ids[step[1]-'0'] = conn
				say("conn id=%d side=out process=1 thread=%d local=127.0.0.1:%d peer=10.0.0.1:8080", conn, thread, 6000+conn)
			case 'e':
				say("chunk conn=%d thread=%d dir=read offset=%d bytes=0 arrived=%dus last=%dus", conn, thread, in[conn], at-20, at-20)
			case 'r', 'a':
				say("chunk conn=%d thread=%d dir=read offset=%d bytes=50 arrived=%dus last=%dus", conn, thread, in[conn], at-20, at-20)
			case 'w', 's':
				say("chunk conn=%d thread=%d dir=write offset=%d bytes=50", conn, thread, out[conn])
			}
			switch step[0] {
			case 'r':
				say("http-request conn=%d offset=%d head=50 method=GET route=/of-%d", conn, in[conn], conn)
				in[conn] += 50
			case 'a':
				say("http-response conn=%d offset=%d head=50 status=200", conn, in[conn])
				in[conn] += 50
			case 's':
				say("http-request conn=%d offset=%d head=50 method=GET route=/call", conn, out[conn])
				out[conn] += 50
			case 'w':
				say("http-response conn=%d offset=%d head=50 status=200", conn, out[conn])
				out[conn] += 50
			}
		}
	}
	return text + fmt.Sprintf("%dus end reason=time\n", at+1000)
}
