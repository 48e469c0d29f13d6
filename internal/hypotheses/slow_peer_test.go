package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A peer on the same host as the service takes longer while its threads have to wait for a processor, as all threads
// there do. Then its slowness says nothing about the peer.
func TestAPeerOnABusyHostMayWaitForAProcessor(t *testing.T) {
	const head = `
1ms manifest cpus=2 hooks="sched io sockets arrivals host"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=PEER
1ms conn-protocol conn=2 protocol=postgres
1ms host busy=0 idle=0 running=1
`
	const request = `
%[1]d010ms chunk conn=1 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010ms last=%[1]d010ms
%[1]d010ms http-request conn=1 offset=%[2]d head=40 method=GET route=/a
%[1]d011ms chunk conn=2 thread=1 dir=write offset=%[2]d bytes=40
%[4]s off thread=1 since=%[1]d012ms woken=%[3]s syscall=read waker-kind=interrupt
%[4]s chunk conn=2 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[3]s last=%[3]s
%[4]s chunk conn=1 thread=1 dir=write offset=%[2]d bytes=40
%[4]s http-response conn=1 offset=%[2]d head=40 status=200
%[1]d990ms off thread=1 since=%[1]d500ms woken=%[1]d980ms syscall=read waker-kind=interrupt
`
	story := head
	for i := range 40 {
		arrived, read := fmt.Sprintf("%d015ms", i+1), fmt.Sprintf("%d016ms", i+1)
		if i%5 == 4 {
			arrived, read = fmt.Sprintf("%d100ms", i+1), fmt.Sprintf("%d101ms", i+1)
		}
		story += fmt.Sprintf(request, i+1, 40*i, arrived, read)
	}
	story += "60000ms host busy=BUSYms idle=IDLEms running=2 pressure=PRESSUREms throttled=THROTTLEDms stolen=STOLENms\n90000ms end reason=time\n"
	for _, x := range []struct {
		what, peer, busy, idle, pressure, throttled, stolen string
		want                                                string
	}{
		{"on a busy host", "127.0.0.1:5432", "95000", "5000", "0", "0", "0", "lead"},
		{"on an idle host", "127.0.0.1:5432", "50000", "50000", "9000", "0", "0", "found"},
		{"where threads wait for a CPU", "127.0.0.1:5432", "50000", "50000", "31000", "0", "0", "lead"},
		{"where a quota is used up", "127.0.0.1:5432", "50000", "50000", "0", "900", "0", "lead"},
		{"where a hypervisor takes processors away", "127.0.0.1:5432", "50000", "46000", "0", "0", "4000", "lead"},
		{"at the address of the host", "10.0.0.1:5432", "95000", "5000", "0", "0", "0", "lead"},
		{"elsewhere", "10.0.0.2:5432", "95000", "5000", "50000", "900", "0", "found"},
	} {
		t.Run(x.what, func(t *testing.T) {
			text := strings.NewReplacer("PEER", x.peer, "BUSY", x.busy, "IDLE", x.idle, "PRESSURE", x.pressure, "THROTTLED", x.throttled, "STOLEN", x.stolen).Replace(story)
			d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{slowPeer()}, diagnosis.Options{})
			got := "refuted"
			if len(d.Findings) == 1 {
				got = "found"
			} else if len(d.Leads) == 1 && strings.Contains(d.Leads[0].Decide, "may itself have waited for one") {
				got = "lead"
			}
			if got != x.want {
				t.Errorf("%s, want %s: %+v %+v", got, x.want, d.Leads, d.Refuted)
			}
		})
	}
}

// Threads of the service wait 2 ms for a processor now and then, and answers of a peer on this host are late by about as
// much, and as often: that is not slowness of the peer. An answer that is late by 85 ms is slow.
func TestAPeerHereMayWaitForAProcessorAsWeDo(t *testing.T) {
	for _, x := range []struct {
		peer string
		late int // ms
		want int
	}{
		{"127.0.0.1:5432", 3, 0},
		{"127.0.0.1:5432", 85, 1},
		{"10.9.9.9:5432", 3, 1},
	} {
		text := "1ms manifest cpus=2 hooks=\"sched io sockets arrivals host\"\n1ms process id=1 pid=100 runtime=jvm comm=shop\n" +
			"1ms thread id=1 tid=101 process=1\n1ms thread-state thread=1 on=1\n1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000\n" +
			"1ms conn id=2 side=out process=1 existing=1 local=127.0.0.1:6000 peer=" + x.peer + "\n1ms conn-protocol conn=2 protocol=postgres\n1ms host busy=0 idle=0 running=1\n"
		for i := range 60 {
			at, answer, ready := 200_000*(i+1), 300, 0 // us
			if i%10 == 4 {
				answer = 300 + x.late*1000
			}
			if i%10 == 7 {
				ready = 2000
			}
			say := func(us int, format string, args ...any) {
				text += fmt.Sprintf("%dus ", at+us) + fmt.Sprintf(format, args...) + "\n"
			}
			say(0, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus", 40*i, at, at)
			say(0, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
			say(100, "chunk conn=2 thread=1 dir=write offset=%d bytes=40", 40*i)
			arrived := at + 100 + answer
			say(100+answer+ready+50, "off thread=1 since=%dus woken=%dus syscall=read waker-kind=interrupt", at+120, arrived)
			say(100+answer+ready+50, "chunk conn=2 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus", 40*i, arrived, arrived)
			say(200+answer+ready, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
			say(200+answer+ready, "http-response conn=1 offset=%d head=40 status=200", 40*i)
		}
		text += "14000ms host busy=7000ms idle=21000ms running=2\n15000ms end reason=time\n"
		d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{slowPeer()}, diagnosis.Options{})
		if len(d.Findings) != x.want {
			t.Errorf("%s, late by %d ms: %d findings, want %d: %+v %+v", x.peer, x.late, len(d.Findings), x.want, d.Findings, d.Leads)
		}
	}
}

// A peer that does not answer at all, until the client gives up, is as slow as a peer can be.
func TestAPeerThatDoesNotAnswer(t *testing.T) {
	text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals host"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`
	for i := range 40 {
		at, conn := 1000*(i+1), i+2
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", at+ms) + fmt.Sprintf(format, args...) + "\n"
		}
		say(0, "conn id=%d side=out process=1 existing=1 local=10.0.0.1:%d peer=10.0.0.2:80", conn, 6000+i)
		say(10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", 40*i, at+10, at+10)
		say(10, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		say(11, "chunk conn=%d thread=1 dir=write bytes=40", conn)
		say(11, "http-request conn=%d head=40 method=GET route=/stock", conn)
		answered := 16
		if i%5 == 4 {
			answered = 262
			say(answered, "off thread=1 since=%dms woken=%dms syscall=poll waker-kind=interrupt timed=1", at+12, at+261)
		} else {
			say(answered, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", at+12, at+15)
			say(answered, "chunk conn=%d thread=1 dir=read bytes=40 arrived=%dms last=%dms", conn, at+15, at+15)
			say(answered, "http-response conn=%d head=40 status=200", conn)
		}
		say(answered, "closed conn=%d by=us thread=1", conn)
		say(answered, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
		say(answered, "http-response conn=1 offset=%d head=40 status=200", 40*i)
		say(990, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", at+500, at+980)
	}
	text += "60000ms host busy=9000ms idle=90000ms running=2\n90000ms end reason=time\n"
	d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{slowPeer()}, diagnosis.Options{})
	const want = "for 10.0.0.2:80 to answer; calls take very different times (answered ones: p50 4.00 ms, p99 4.00 ms); 8 of 40 calls had no answer and were given up after 251 ms on average"
	if len(d.Findings) != 1 || !strings.HasSuffix(d.Findings[0].Title, want) {
		t.Errorf("found %+v, want %q", d.Findings, want)
	}
}

// Three requests of thirty wait for answers that have not come when the recording ends. They wait at least for as long
// as they were open, and the report says so.
func TestCallsThatNeverEndAreWaitedFor(t *testing.T) {
	text := `1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=ruby comm=puma
`
	const asked = `%[2]dms chunk conn=%[1]d thread=%[1]d dir=read offset=%[3]d bytes=40 arrived=%[2]dms last=%[2]dms
%[2]dms http-request conn=%[1]d offset=%[3]d head=40 method=GET route=/a
%[2]d.1ms chunk conn=1%[1]d thread=%[1]d dir=write offset=%[3]d bytes=40
%[2]d.1ms http-request conn=1%[1]d offset=%[3]d head=40 method=GET route=/x host=db.test
`
	const answered = `%[4]dms off thread=%[1]d since=%[2]d.2ms woken=%[4]dms syscall=recvfrom waker-kind=interrupt
%[4]dms chunk conn=1%[1]d thread=%[1]d dir=read offset=%[3]d bytes=40 arrived=%[4]dms last=%[4]dms
%[4]dms http-response conn=1%[1]d offset=%[3]d head=40 status=200
%[4]d.1ms chunk conn=%[1]d thread=%[1]d dir=write offset=%[3]d bytes=40
%[4]d.1ms http-response conn=%[1]d offset=%[3]d head=40 status=200
`
	for id := 1; id <= 4; id++ {
		text += fmt.Sprintf(`1ms thread id=%[1]d tid=10%[1]d process=1 name=worker
1ms thread-state thread=%[1]d on=1
1ms conn id=%[1]d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:500%[1]d
1ms conn id=1%[1]d side=out process=1 existing=1 local=127.0.0.1:600%[1]d peer=10.0.0.1:8080
`, id)
	}
	for i := range 27 {
		text += fmt.Sprintf(asked+answered, 1, 10+20*i, 40*i, 14+20*i)
	}
	for id := 2; id <= 4; id++ {
		text += fmt.Sprintf(asked, id, 600+id, 0)
		text += fmt.Sprintf("3000ms off thread=%d since=%d.2ms woken=3000ms syscall=recvfrom waker-kind=interrupt\n", id, 600+id)
	}
	d := diagnosis.Diagnose(built(t, text+"3000ms end reason=time\n"), []diagnosis.Hypothesis{slowPeer()}, diagnosis.Options{})
	if len(d.Findings) != 1 || d.Findings[0].ID != "slow-peer" {
		t.Fatalf("found %+v, refuted %+v, undecided %+v", d.Findings, d.Refuted, d.Undecided)
	}
	got := map[string]int64{}
	for _, e := range d.Findings[0].Evidence {
		got[e.What] = e.Value
	}
	if got["calls without an answer when the recording ended"] != 3 || got["p99 of the wait for its answer"] < 2_300_000_000 {
		t.Errorf("%v", got)
	}
}

// A web server asks a process that serves one request after the other, 2 ms each, for eight things at
// once. Both are recorded: what the web server waits for is mostly the queue there.
//
//	ms          50       52       54     ...     66
//	web         asks 8   answer   answer         answer
//	php-fpm     reads 1  reads 2  reads 3        answers 8
func TestAPeerThatIsRecordedSaysWhereItsTimeIs(t *testing.T) {
	s := newScenario(recording.RuntimeNative)
	const front, php = 8, 9
	s.add(us, &recording.Process{ID: 2, PID: 200, Comm: "php-fpm"})
	s.add(us, &recording.Thread{ID: php, TID: 209, Process: 2})
	s.add(us, &recording.ThreadState{Thread: php, State: recording.OffSleep, Syscall: "accept"})
	var web []*thread
	var there []*outgoing
	for id := range front {
		w := s.worker(recording.ThreadID(id+1), 1000*us)
		w.kept = w.inherit(0)
		web = append(web, w)
		s.conns++
		o := &outgoing{id: s.conns}
		s.add(us, &recording.Conn{ID: o.id, Side: recording.Inbound, Process: 2, Local: "10.0.0.2:443", Peer: fmt.Sprintf("10.0.0.1:%d", s.port), Existing: 1})
		there = append(there, o)
	}
	p := &thread{scenario: s, id: php, at: us}
	for i := range 10 {
		asked := recording.Time(i+1) * 100_000 * us
		for id, w := range web {
			w.request(asked, 10*us, "/a")
			sent := w.at + 20*us
			p.in, p.bytes = there[id].id, there[id].bytes
			p.sleep(sent, 5*us, "accept")
			p.compute(5 * us)
			at := p.chunk(p.in, &p.bytes, recording.Read, 80, sent)
			s.add(p.at, &recording.HTTPRequest{Conn: p.in, Offset: at, Head: 80, Method: "GET", Route: "/php", Host: "db.test"})
			p.compute(2000 * us)
			p.respond()
			there[id].bytes = p.bytes
			w.call(w.kept, p.at-sent, "/php")
			w.respond()
		}
	}
	tl, err := build.Recording(done(s, 30))
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{slowPeer()}, diagnosis.Options{})
	const want = "; the process that answers there is recorded, too (php-fpm): its 80 requests take 9.12 ms on average, 78 % of that before it reads them"
	said := append(d.Findings, d.Leads...)
	if len(said) != 1 || !strings.HasSuffix(said[0].Title, want) || !strings.HasPrefix(said[0].Fix, "requests queue at db.test until a worker reads them") {
		t.Fatalf("said %+v, want %q", said, want)
	}
}
