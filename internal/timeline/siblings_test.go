package timeline

import "testing"

// Two requests are read in one turn of the loop's poll, so that nothing tells which handle is
// whose. The second makes two calls at once, for the same older id; the answer that comes
// first is followed by nothing, and the response by the other's: both are of that request.
func TestCallsMadeAtOnceAreOfOneRequest(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals async"
1ms process id=1 pid=100 runtime=node comm=node
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 syscall=epoll_pwait
2ms conn id=1 side=out process=1 local=127.0.0.1:5001 peer=127.0.0.1:90 existing=1
2ms conn id=2 side=out process=1 local=127.0.0.1:5002 peer=127.0.0.1:90 existing=1
2ms conn id=3 side=out process=1 local=127.0.0.1:5003 peer=127.0.0.1:90 existing=1
10ms conn id=4 process=1 local=127.0.0.1:80 peer=127.0.0.1:6001
10ms off thread=1 since=2ms woken=10ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1682
10ms conn id=5 process=1 local=127.0.0.1:80 peer=127.0.0.1:6002
11ms chunk conn=4 thread=1 bytes=86 arrived=10ms last=10ms first=11ms counter=1688
11ms conn-protocol conn=4 protocol=http1
11ms http-request conn=4 head=86 method=GET route=/users/{} close=1
12ms chunk conn=3 thread=1 dir=write bytes=214 first=12ms exec=1690 trigger=1684 counter=1693
12ms conn-protocol conn=3 protocol=http1
12ms http-request conn=3 head=214 method=GET route=/profile/{}
13ms chunk conn=5 thread=1 bytes=93 arrived=10ms last=10ms first=13ms counter=1694
13ms conn-protocol conn=5 protocol=http1
13ms http-request conn=5 head=93 method=GET route=/users/{}/orders close=1
14ms chunk conn=1 thread=1 dir=write bytes=212 first=14ms exec=1696 trigger=1687 counter=1701
14ms conn-protocol conn=1 protocol=http1
14ms http-request conn=1 head=212 method=GET route=/orders/{}
15ms chunk conn=2 thread=1 dir=write bytes=211 first=15ms exec=1698 trigger=1687 counter=1704
15ms conn-protocol conn=2 protocol=http1
15ms http-request conn=2 head=211 method=GET route=/stock/{}
20ms off thread=1 since=16ms woken=20ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1704
20ms chunk conn=2 thread=1 bytes=197 arrived=20ms last=20ms first=20ms counter=1705
20ms http-response conn=2 head=108 status=200 length=89
24ms off thread=1 since=21ms woken=24ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1714
24ms chunk conn=1 thread=1 bytes=198 arrived=24ms last=24ms first=24ms counter=1715
24ms http-response conn=1 head=108 status=200 length=90
25ms chunk conn=5 thread=1 dir=write bytes=398 first=25ms counter=1725
25ms http-response conn=5 head=208 status=200 length=190 close=1
26ms closed conn=5 by=peer thread=1
60ms off thread=1 since=27ms woken=60ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1725
60ms chunk conn=3 thread=1 bytes=199 arrived=60ms last=60ms first=60ms counter=1726
60ms http-response conn=3 head=108 status=200 length=91
61ms chunk conn=4 thread=1 dir=write bytes=349 first=61ms counter=1736
61ms http-response conn=4 head=208 status=200 length=141 close=1
62ms closed conn=4 by=us thread=1
90ms end reason=time
`))
	of := map[string]string{}
	for i := range tl.Calls {
		c := &tl.Calls[i]
		if c.Request != None {
			of[c.Operation] = tl.Requests[c.Request].Endpoint
		}
	}
	for call, want := range map[string]string{"GET /profile/{}": "GET /users/{}", "GET /orders/{}": "GET /users/{}/orders", "GET /stock/{}": "GET /users/{}/orders"} {
		if of[call] != want {
			t.Errorf("%s is of %q, want %q", call, of[call], want)
		}
	}
}

// Two requests are read in one go. The call of the first is answered last, and both responses
// are written then, for the second's had to wait: ids give nobody's call to the other.
func TestCallsOfPipelinedRequestsAreNotGivenToOneOfThem(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals async"
1ms process id=1 pid=100 runtime=node comm=node
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 syscall=epoll_pwait
2ms conn id=1 side=out process=1 local=127.0.0.1:5001 peer=127.0.0.1:90 existing=1
2ms conn id=2 side=out process=1 local=127.0.0.1:5002 peer=127.0.0.1:90 existing=1
2ms conn id=4 process=1 local=127.0.0.1:80 peer=127.0.0.1:6001 existing=1
9ms conn id=5 process=1 local=127.0.0.1:80 peer=127.0.0.1:6002 existing=1
10ms off thread=1 since=2ms woken=10ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1682
10ms chunk conn=5 thread=1 bytes=80 arrived=10ms last=10ms first=10ms counter=1684
10ms conn-protocol conn=5 protocol=http1
10ms http-request conn=5 head=80 method=GET route=/other
11ms chunk conn=4 thread=1 bytes=160 arrived=10ms last=10ms first=11ms counter=1688
11ms conn-protocol conn=4 protocol=http1
11ms http-request conn=4 head=80 method=GET route=/first
11ms http-request conn=4 offset=80 head=80 method=GET route=/second
12ms chunk conn=1 thread=1 dir=write bytes=200 first=12ms exec=1696 trigger=1600 counter=1701
12ms conn-protocol conn=1 protocol=http1
12ms http-request conn=1 head=200 method=GET route=/slow
13ms chunk conn=2 thread=1 dir=write bytes=200 first=13ms exec=1698 trigger=1600 counter=1704
13ms conn-protocol conn=2 protocol=http1
13ms http-request conn=2 head=200 method=GET route=/quick
20ms off thread=1 since=14ms woken=20ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1704
20ms chunk conn=2 thread=1 bytes=197 arrived=20ms last=20ms first=20ms counter=1705
20ms http-response conn=2 head=108 status=200 length=89
24ms off thread=1 since=21ms woken=24ms waker-kind=interrupt syscall=epoll_pwait timed=1 counter=1714
24ms chunk conn=1 thread=1 bytes=197 arrived=24ms last=24ms first=24ms counter=1715
24ms http-response conn=1 head=108 status=200 length=89
25ms chunk conn=4 thread=1 dir=write bytes=100 first=25ms counter=1725
25ms http-response conn=4 head=80 status=200 length=20
25ms chunk conn=4 thread=1 dir=write offset=100 bytes=100 first=25ms counter=1728
25ms http-response conn=4 offset=100 head=80 status=200 length=20
80ms chunk conn=5 thread=1 dir=write bytes=100 first=80ms counter=1740
80ms http-response conn=5 head=80 status=200 length=20
90ms end reason=time
`))
	right := map[string]string{"GET /slow": "GET /first", "GET /quick": "GET /second"}
	for i := range tl.Calls {
		c := &tl.Calls[i]
		if c.Request != None && tl.Requests[c.Request].Endpoint != right[c.Operation] {
			t.Errorf("%s is given to %s by %s", c.Operation, tl.Requests[c.Request].Endpoint, c.Why)
		}
	}
	if len(tl.Calls) != 2 || len(tl.Requests) != 3 {
		t.Errorf("%d calls, %d requests", len(tl.Calls), len(tl.Requests))
	}
}
