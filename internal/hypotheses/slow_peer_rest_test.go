package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// A peer begins to answer after 5 ms and sends the rest later: all of that is time at the peer.
func TestTheRestOfAnAnswerIsAwaitedToo(t *testing.T) {
	f := answeredInPieces(t, 20)
	if f.ID != "slow-peer" || f.Impact.Mean < 24*milli {
		t.Errorf("%s takes %d us of a request, want slow-peer with 25 ms", f.ID, f.Impact.Mean/1000)
	}
	if words := "an answer takes another 20.0 ms from its first byte to its last"; !strings.Contains(f.Title, words) {
		t.Errorf("%q does not say %q", f.Title, words)
	}
}

// A pause of 43 ms in an answer is caused by a delayed acknowledgement: without it 5 ms are left. Pauses of 47 ms each
// are not: some would be shorter.
func TestThePeerKeepsBackTheRestOfAnAnswer(t *testing.T) {
	if f := answeredInPieces(t, 47); f.ID != "slow-peer" {
		t.Errorf("pauses of 47 ms: %s", f.Title)
	}
	f := answeredInPieces(t, 43)
	if f.ID != "delayed-ack" || f.Impact.Mean < 42*milli || f.Impact.Mean > 44*milli || !strings.Contains(f.Title, "The last part of 40 of 40 answers of db:8080 arrives 43.0 ms") {
		t.Errorf("%s takes %d us of a request: %s", f.ID, f.Impact.Mean/1000, f.Title)
	}
}

// answeredInPieces returns the lead or finding of a service whose peer pauses in each answer.
func answeredInPieces(t *testing.T, pause int) diagnosis.Finding {
	t.Helper()
	story := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:8080
`
	for i := range 40 {
		story += fmt.Sprintf(`
%[1]d010ms chunk conn=1 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010ms last=%[1]d010ms
%[1]d010ms http-request conn=1 offset=%[2]d head=40 method=GET route=/a
%[1]d011ms chunk conn=2 thread=1 dir=write offset=%[2]d bytes=40
%[1]d011ms http-request conn=2 offset=%[2]d head=40 method=GET route=/x host=db
%[1]d016ms off thread=1 since=%[1]d011ms woken=%[1]d016ms syscall=read waker-kind=interrupt
%[1]d016ms chunk conn=2 thread=1 dir=read offset=%[3]d bytes=30 arrived=%[1]d016ms last=%[1]d016ms
%[1]d016ms http-response conn=2 offset=%[3]d head=30 length=30 status=200
%[1]d0%[4]dms off thread=1 since=%[1]d016ms woken=%[1]d0%[4]dms syscall=read waker-kind=interrupt
%[1]d0%[4]dms chunk conn=2 thread=1 dir=read offset=%[5]d bytes=30 arrived=%[1]d0%[4]dms last=%[1]d0%[4]dms
%[1]d0%[6]dms chunk conn=1 thread=1 dir=write offset=%[2]d bytes=40
%[1]d0%[6]dms http-response conn=1 offset=%[2]d head=40 status=200
%[1]d990ms off thread=1 since=%[1]d500ms woken=%[1]d980ms syscall=read waker-kind=interrupt
`, i+1, 40*i, 60*i, 16+pause, 60*i+30, 17+pause)
	}
	rec, err := recording.ParseText(strings.NewReader("# dwell recording, text form 1\n" + story))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := meanTime(t, rec)
	if all := append(d.Findings, d.Leads...); len(all) > 0 {
		return all[0]
	}
	t.Fatal("nothing is found")
	return diagnosis.Finding{}
}
