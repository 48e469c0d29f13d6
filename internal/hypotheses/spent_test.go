package hypotheses

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// A thread has another one sync a file for 4 ms, and is woken 40 us later; then it is ready for 2 ms before it runs.
// Without the sync it would not be. How long the other thread was ready before that is not known to be for this
// request.
func TestWhatHandingOverCostsGoesWithAWait(t *testing.T) {
	text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=100 process=1
1ms thread id=2 tid=101 process=1
1ms thread-state thread=1 state=sleep syscall=read
1ms thread-state thread=2 state=sleep syscall=futex
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`
	for i := range 30 {
		at := 100_000 * (i + 1)
		say := func(us int, format string, args ...any) {
			text += fmt.Sprintf("%dus ", at+us) + fmt.Sprintf(format, args...) + "\n"
		}
		say(0, "off thread=1 since=%dus woken=%dus syscall=read waker-kind=interrupt", at-90_000, at)
		say(10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus", 40*i, at, at)
		say(10, "http-request conn=1 offset=%d head=40 method=GET route=/orders", 40*i)
		say(1200, "off thread=2 since=%dus woken=%dus syscall=futex waker-kind=thread waker=1 release=1", at-90_000, at+200)
		say(5210, "off thread=2 since=%dus woken=%dus syscall=fsync state=disk waker-kind=interrupt", at+1210, at+5210)
		say(7250, "off thread=1 since=%dus woken=%dus syscall=futex waker-kind=thread waker=2", at+210, at+5250)
		say(7300, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
		say(7300, "http-response conn=1 offset=%d head=40 status=200", 40*i)
	}
	text += "4000000us end reason=time\n"
	d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{disk()}, diagnosis.Options{})
	if len(d.Leads) != 1 || d.Leads[0].Impact.Mean != 6_000_000 {
		t.Errorf("leads %+v, want 6 ms", d.Leads)
	}
}
