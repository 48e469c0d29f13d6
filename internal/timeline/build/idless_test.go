package build

import "testing"

// While the ids of a runtime are not seen, it is not known which goroutine a thread runs: what it does then is assigned
// to no request, and does not count.
func TestWhatWentOnWhileIDsWereNotSeenIsCut(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals goroutines"
1ms process id=1 pid=100 runtime=go comm=shop
1ms thread id=2 tid=102 process=1 name=shop
1ms thread-state thread=2 on=1
1ms conn id=1 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=127.0.0.1:4000 peer=127.0.0.1:90
1ms conn id=3 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5001
10ms chunk conn=1 thread=2 dir=read bytes=40 arrived=9ms last=9ms
10ms http-request conn=1 head=40 method=GET route=/early
11ms chunk conn=2 thread=2 dir=write bytes=40
11ms http-request conn=2 head=40 method=GET route=/stock
15ms chunk conn=2 thread=2 dir=read bytes=40 arrived=15ms last=15ms
15ms http-response conn=2 head=40 status=200
20ms chunk conn=1 thread=2 dir=write bytes=40
20ms http-response conn=1 head=40 status=200
18ms unseen process=1 what=ids from=1ms
30ms chunk conn=3 thread=2 goroutine=7 dir=read bytes=40 arrived=29ms last=29ms
30ms http-request conn=3 head=40 method=GET route=/late
40ms chunk conn=3 thread=2 goroutine=7 dir=write bytes=40
40ms http-response conn=3 head=40 status=200
50ms end reason=time
`))
	if r := tl.Requests; len(r) != 2 || !r[0].Cut || r[1].Cut {
		t.Errorf("%+v; want the first cut and the second not", r)
	}
	if r := tl.Requests; !tl.Idless(&r[0]) || tl.Idless(&r[1]) {
		t.Error("the first came before the ids were found, the second after")
	}
	if c := tl.Calls; len(c) != 1 || !c[0].Cut {
		t.Errorf("%+v; want it cut", c)
	}
}
