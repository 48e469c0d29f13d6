//go:build linux && amd64

package capture

import (
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/getdwell/dwell/internal/capture/target"
)

// probeSite is a place in the code of one process at which a program is to run. Other
// processes that run the same executable do not trap there and pay nothing.
type probeSite struct {
	pid    int
	path   string // of the executable
	offset uint64 // in the file
}

// attach hooks a program up there, for all threads of the process.
func (p probeSite) attach(program *ebpf.Program) (link.Link, error) {
	exe, err := link.OpenExecutable(p.path)
	if err != nil {
		return nil, fmt.Errorf("open the executable of process %d: %w", p.pid, err)
	}
	l, err := exe.Uprobe("", program, &link.UprobeOptions{Address: p.offset, PID: p.pid})
	if err != nil {
		return nil, fmt.Errorf("probe process %d: %w", p.pid, err)
	}
	return l, nil
}

// trapUnmeasured is what one hit of a probe takes where it cannot be measured: as much
// as in a slow virtual machine.
const trapUnmeasured = 8 * time.Microsecond

// trapCost measures what one hit of a probe takes on this machine, which the kernel's
// own statistics of programs do not hold: how much longer a function of dwell runs with
// a program at it that does nothing.
func trapCost(program *ebpf.Program) time.Duration {
	const name, batches, calls = "github.com/getdwell/dwell/internal/capture.probed", 8, 25
	exe, err := target.GoFunctions(os.Getpid(), name)
	f, found := exe.Functions[name]
	if err != nil || !found {
		return trapUnmeasured
	}
	l, err := probeSite{os.Getpid(), exe.Path, f.Probe}.attach(program)
	if err != nil {
		return trapUnmeasured
	}
	defer l.Close()
	best := time.Duration(0)
	for range batches { // the fastest is the one that nothing else disturbed
		began := time.Now()
		for i := range calls {
			probed(i)
		}
		if took := time.Since(began) / calls; best == 0 || took < best {
			best = took
		}
	}
	return max(best, 100*time.Nanosecond)
}

// probed is called with a probe at it. It begins as functions that call others do.
//
//go:noinline
func probed(i int) string {
	if i < 0 {
		return fmt.Sprint(i)
	}
	return ""
}

// hitBudget bounds what hits of probes cost: a share of one CPU, averaged over a second.
// Where more is asked for the probes are taken away until there is something left.
type hitBudget struct {
	share float64       // of one CPU
	hit   time.Duration // what one takes
	left  time.Duration
	at    time.Time // of the last reading
	hits  uint64    // then
}

// fill begins with all of the budget.
func (b *hitBudget) fill(now time.Time) {
	b.left, b.at = b.most(), now
}

// most is what may be spent at once.
func (b *hitBudget) most() time.Duration {
	return time.Duration(b.share * float64(time.Second))
}

// spend takes the hits so far into account and reports whether the probes may stay, or
// come back, which they may only when they could stay for a while.
func (b *hitBudget) spend(hits uint64, now time.Time, attached bool) bool {
	b.left += time.Duration(b.share*float64(now.Sub(b.at))) - time.Duration(hits-b.hits)*b.hit
	b.left = min(b.left, b.most())
	b.at, b.hits = now, hits
	if attached {
		return b.left > 0
	}
	return b.left >= b.most()/2
}
