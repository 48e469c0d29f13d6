//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// executorScript has an executor with one worker that takes 20 tasks when told to.
const executorScript = `
import concurrent.futures, socket, sys
executor = concurrent.futures.ThreadPoolExecutor(1)
executor.submit(int).result()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stdin.readline()
for i in range(20):
    executor.submit(int).result()
`

// Taking work from the queue of an executor is recorded, with the thread that had put it in.
func TestQueuesOfPython(t *testing.T) {
	const port = 21079
	p := start(t, port, python(t), "-c", executorScript, fmt.Sprint(port))
	l := record(t, p.Process.Pid, Options{})
	fmt.Fprintln(p.stdin)
	p.stdin.Close()
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	first := recording.NoThread
	for _, th := range all[*recording.Thread](rec) {
		if th.TID == int64(p.Process.Pid) {
			first = th.ID
		}
	}
	n := 0
	for _, e := range rec.Events {
		x, ok := e.Fact.(*recording.Taken)
		if !ok || x.Executor == 0 {
			continue
		}
		if n++; x.Putter != first || x.Thread == first || x.Put == recording.NoTime || x.Put > e.Time || x.Queue == 0 {
			t.Errorf("thread %d took, at %d, %+v: want what thread %d had put in before", x.Thread, e.Time, x, first)
		}
	}
	if n != 20 {
		t.Errorf("%d tasks were taken, want 20", n)
	}
}
