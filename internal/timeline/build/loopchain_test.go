package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// chainStory plays steps of a loop without ids for as many rounds. A step is a letter, the
// request of the round (1 or 2), and for calls the connection: read and respond, send and
// answer; connections 5 and 6 are opened, and their ends read; "." is a sleep. An apostrophe after it says that the second thread did it.
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
			case 'o': // by another name each time
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

// Connections 1 and 2 bring requests, 3 and 4 carry calls. Whose each call of a round is
// comes out of what the loop read before, if its responses say the same.
func TestChainsOfLoops(t *testing.T) {
	const each = ". r1 s3 . r2 s4 . a4 w2 . a3 w1 .' r1' s3' .' r2' s4' .' a4' w2' .' a3' w1' .' " // thread after thread
	for _, x := range []struct {
		name   string
		steps  string
		rounds int
		want   string // per call of a round: of which connection's request it is, "-" if that is not told
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

// A response in the turn of an answer of which nothing else is known tells whose that was. It
// counts as proof where threads share tasks: behind a semaphore there is hardly another one.
func TestWhatMakesAChainBelieved(t *testing.T) {
	for _, x := range []struct {
		name                                string
		wander                              bool
		owners, confirmed, told, contradict int
		want                                bool
	}{
		{"every fourth is confirmed", false, 100, 25, 0, 0, true},
		{"too few are", false, 100, 24, 70, 0, false},
		{"the others are told, of threads that share tasks", true, 100, 24, 70, 0, true},
		{"none but those that are told", true, 100, 0, 100, 0, false},
		{"one says otherwise", true, 100, 24, 70, 1, false},
	} {
		l := linked{confirmed: x.confirmed, told: x.told, refuted: x.contradict, owner: map[timeline.CallID]timeline.RequestID{}}
		for i := range x.owners {
			l.owner[timeline.CallID(i)] = timeline.RequestID(i)
		}
		if got := l.believed(x.wander); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
