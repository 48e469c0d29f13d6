package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A service sends PostgreSQL a statement that was prepared before the recording began. It is not known which, but no
// database gives out credentials. What TLS hides may.
func TestUnknownStatementsFetchNoCredentials(t *testing.T) {
	const head = `
1ms manifest cpus=2 hooks="sched sockets io arrivals"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:5432
1ms conn-protocol conn=2 protocol=PROTOCOL
`
	const request = `
%[1]d010ms chunk conn=1 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010ms last=%[1]d010ms
%[1]d010ms http-request conn=1 offset=%[2]d head=40 method=GET route=/a
%[1]d011ms chunk conn=2 thread=1 dir=write offset=%[2]d bytes=40
%[1]d030ms off thread=1 since=%[1]d012ms woken=%[1]d029ms syscall=read waker-kind=interrupt
%[1]d030ms chunk conn=2 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d029ms last=%[1]d029ms
%[1]d031ms chunk conn=1 thread=1 dir=write offset=%[2]d bytes=40
%[1]d031ms http-response conn=1 offset=%[2]d head=40 status=200
%[1]d090ms off thread=1 since=%[1]d032ms woken=%[1]d089ms syscall=read waker-kind=interrupt
`
	story := head
	for i := range 30 {
		story += fmt.Sprintf(request, i+1, 40*i)
	}
	story += "90000ms end reason=time\n"
	for protocol, undecided := range map[string]bool{"postgres": false, "tls": true} {
		rec, err := recording.ParseText(strings.NewReader(strings.ReplaceAll(story, "PROTOCOL", protocol)))
		if err != nil {
			t.Fatal(err)
		}
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{credentialFetch()}, diagnosis.Options{})
		if got := len(d.Undecided) == 1; len(tl.Calls) == 0 || got != undecided {
			t.Errorf("%s: undecided %v with %d calls, want %v: %+v", protocol, got, len(tl.Calls), undecided, d)
		}
	}
}
