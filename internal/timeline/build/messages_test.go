package build

import "testing"

// A client with a connection per request waits for its answer when recording begins. The request was under way, and its
// call was made for it, although nothing else comes on its connection.
func TestARequestUnderWayIsCutThoughItsConnectionEndsWithIt(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
2ms conn id=1 process=1 local=127.0.0.1:80 peer=127.0.0.1:4000 existing=1
10ms conn id=2 side=out process=1 thread=1 local=127.0.0.1:5000 peer=127.0.0.1:90
11ms chunk conn=2 thread=1 dir=write bytes=90 first=11ms
11ms conn-protocol conn=2 protocol=http1
11ms http-request conn=2 head=90 method=GET route=/price host=prices
16ms chunk conn=2 thread=1 bytes=120 arrived=15ms last=15ms first=16ms
16ms http-response conn=2 head=100 status=200 length=20
18ms chunk conn=1 thread=1 dir=write bytes=165 first=18ms
18ms conn-protocol conn=1 protocol=http1
18ms http-response conn=1 head=165 status=200 length=89 close=1
19ms chunk conn=1 thread=1 dir=write offset=165 bytes=89 first=19ms
20ms closed conn=1 by=peer
90ms end reason=time
`))
	if len(tl.Requests) != 1 || !tl.Requests[0].Cut || tl.Requests[0].End != 19_000_000 {
		t.Fatalf("requests: %+v", tl.Requests)
	}
	if len(tl.Calls) != 1 || tl.Calls[0].Request != 0 {
		t.Errorf("calls: %+v", tl.Calls)
	}
}
