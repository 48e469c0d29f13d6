//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// wakingScript sleeps and wakes up 200 times on the first processor, when told to.
const wakingScript = `
import os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
sys.stdin.readline()
for i in range(200):
    time.sleep(0.002)
`

// spinningScript computes on the same processor.
const spinningScript = `
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
open("/proc/self/comm", "w").write("neighbour")
while True:
    pass
`

// A thread that comes back to a processor follows another program if that computed there, and often nothing if only
// what else is tested just then did.
func TestWhatHadTheProcessor(t *testing.T) {
	for before, least := range map[string]int{"other neighbour": 2, "idle ": 10} {
		t.Run(before, func(t *testing.T) {
			if before != "idle " {
				start(t, 0, python(t), "-c", spinningScript)
			}
			p := start(t, 0, python(t), "-c", wakingScript)
			l := record(t, p.Process.Pid, Options{})
			fmt.Fprintln(p.stdin)
			rec, _ := filesOf(t, l)
			found, sleeps := map[string]int{}, 0
			for _, off := range all[*recording.Off](rec) {
				if off.Timed == 1 && off.State == recording.OffSleep {
					found[off.Ahead.String()+" "+off.Program]++
					sleeps++
				}
			}
			if sleeps < 100 || least*found[before] < sleeps || before == "idle " && found["other neighbour"] > 0 {
				t.Errorf("%v", found)
			}
		})
	}
}
