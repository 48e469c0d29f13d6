package hypotheses

import "github.com/getdwell/dwell/recording"

// sharedReader plays a Go service whose requests, 50 ms apart, wait in a select until goroutine 21 has read an answer. It
// reads for all requests that share connection 9, on which goroutine 22 writes. The answer comes after 10 ms, every fifth
// time after 30 ms; asked says how long after the wait began it is asked for.
//
//	ms         0.1      0.3       10 or 30
//	request    waits                       answers
//	22                  writes
//	21         waits for bytes    reads, lets it go on
func sharedReader(side string, asked func(answered int) int) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals goroutines parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us thread id=2 tid=102 process=1`, `000000001us thread-state thread=2 on=1`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
		`000000001us frame id=1 type=go function=example.com/rpc.serve`, `000000001us stack id=1 frame=1`,
	}
	l.at(1, "conn id=9 side=%s process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:9000", side)
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		answered := 10_000
		if i%5 == 4 {
			answered = 30_000
		}
		writes := at + asked(answered)
		answered += at
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at-15_000, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		l.at(writes, "off thread=2 since=%dus woken=%dus syscall=futex waker-kind=thread waker=1", at-15_000, writes-10)
		l.at(writes+5, "chunk conn=9 thread=2 dir=write offset=%d bytes=50 goroutine=22", 50*i)
		l.at(answered, "off thread=2 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", writes+20, answered-5)
		l.at(answered+5, "chunk conn=9 thread=2 dir=read offset=%d bytes=70 arrived=%dus last=%dus goroutine=21", 70*i, answered-10, answered-10)
		l.at(answered+20, "unpark thread=2 goroutine=21 parent=1 woken=7 stack=1")
		l.at(answered+30, "off thread=1 since=%dus woken=%dus syscall=futex waker-kind=thread waker=2", at+100, answered+20)
		l.at(answered+90, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(answered+91, "http-response conn=1 offset=%d head=60 status=200", 60*i)
	}
	return l.recording()
}

// sharedLoop plays a JVM whose requests, 50 ms apart, wait until a thread that turns to whatever comes has read an answer. It
// reads for all requests that share connection 9, of a protocol. The answer comes after 10 ms, every fifth time after 30 ms.
//
//	ms         0.1      10 or 30
//	request    writes, waits         answers
//	loop                reads, lets it go on
func sharedLoop(protocol string) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals samples stacks"`,
		`000000001us process id=1 pid=100 runtime=jvm comm=java`,
		`000000001us thread id=1 tid=101 process=1 name=http-1`, `000000001us thread-state thread=1 on=1`,
		`000000001us thread id=2 tid=102 process=1 name=loop`, `000000001us thread-state thread=2 on=1`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
		`000000001us conn id=9 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:9000`,
		`000000001us frame id=1 type=jvm function="void example.Svc.handle()" file=Svc.java line=12`, `000000001us stack id=1 frame=1`,
		`000000001us frame id=2 type=jvm function="void io.grpc.stub.ClientCalls.blockingUnaryCall()" file=ClientCalls.java line=160`, `000000001us stack id=2 caller=1 frame=2`,
	}
	l.at(1, "conn-protocol conn=9 protocol=%s", protocol)
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		answered := at + 10_000
		if i%5 == 4 {
			answered = at + 30_000
		}
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_wait waker-kind=interrupt", at-15_000, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		l.at(at+90, "chunk conn=9 thread=1 dir=write offset=%d bytes=50", 50*i)
		l.at(at+5_000, "stack-at thread=1 stack=2 origin=blocked")
		l.at(answered, "off thread=2 since=%dus woken=%dus syscall=epoll_wait waker-kind=interrupt", at-15_000, answered-5)
		l.at(answered+5, "chunk conn=9 thread=2 dir=read offset=%d bytes=70 arrived=%dus last=%dus", 70*i, answered-10, answered-10)
		l.at(answered+30, "off thread=1 since=%dus woken=%dus syscall=futex waker-kind=thread waker=2", at+100, answered+20)
		l.at(answered+90, "chunk conn=1 thread=1 dir=write offset=%d bytes=60", 60*i)
		l.at(answered+91, "http-response conn=1 offset=%d head=60 status=200", 60*i)
	}
	return l.recording()
}

// sharedReaderStories are services whose clients have one goroutine, or one thread, that reads for all.
func sharedReaderStories() []story {
	soon := func(int) int { return 300 }
	return []story{
		{"slow-peer/go-reader-lead", "Each request of a Go service waits until the goroutine that reads a connection, for all who share it, has its answer: 10 ms, every fifth time 30 ms. Which bytes are whose is not known.",
			func() *recording.Recording { return sharedReader("out", soon) }},
		{"slow-peer/go-reader-unasked-lead", "The same, but the client collects what is to be sent, and writes 1 ms before the answer comes: only that much is the peer's.",
			func() *recording.Recording {
				return sharedReader("out", func(answered int) int { return answered - 1_000 })
			}},
		{"slow-peer/go-reader-inbound-refuted", "The same as in go-reader-lead.txt, but a client opened the connection: who reads there waits for no peer of the service's.",
			func() *recording.Recording { return sharedReader("in", soon) }},
		{"slow-peer/jvm-loop-lead", "Each request of a JVM waits until the thread that reads a connection of HTTP/2, for all who share it, has its answer: 10 ms, every fifth time 30 ms.",
			func() *recording.Recording { return sharedLoop("http2") }},
	}
}
