//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/recording"
)

// The body of an answer is kept back until the client acknowledges the head, which it delays. The recorder reports
// when the body left, with the precision of the travel time.
//
//	client   send----------head arrives - - - - - - acknowledges - body arrives    send ...
//	server         read  head  body (kept back)               |--- left
func TestLateEndsOfAnswers(t *testing.T) {
	const port, requests = 21031, 12
	server := start(t, port, python(t), "testdata/late.py", fmt.Sprint(port))
	calm.Try(t, func() []string { // the client reads each part at once
		l := record(t, server.Process.Pid, Options{})
		c, err := net.Dial("tcp", localhost(port))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var done []recording.Time
		for range requests {
			var sent recording.Time
			get(t, c, "/", &sent)
			done = append(done, clock())
			time.Sleep(5 * time.Millisecond) // a pause, so that the client's kernel does not expect more data soon
		}
		rec := l.stop()
		late := 0
		for _, f := range all[*recording.Late](rec) {
			for _, at := range done {
				if f.Window == 0 && f.Left < at && at-f.Left < 2_000_000 {
					late++
				}
			}
		}
		if late < requests/2 {
			return []string{fmt.Sprintf("%d of %d answers are known to have left late: %v; they were complete at %v", late, requests, all[*recording.Late](rec), done)}
		}
		return nil
	})
}
