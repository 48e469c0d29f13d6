// Command attaching measures how soon dwell records a service that runs already, and how
// soon it ends: for a service of each runtime, on a host that idles, on one whose processors
// are all taken, and where the service forks all the time. It prints a table. It runs as
// root, from the root of the repository, on an otherwise idle machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	var opt options
	flag.IntVar(&opt.rounds, "rounds", 3, "attachments to each service on each kind of host")
	flag.StringVar(&opt.only, "only", "", "only the rows (service and host) that hold this")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, opt); err != nil {
		fmt.Fprintln(os.Stderr, "attaching:", err)
		os.Exit(2)
	}
}

type options struct {
	rounds int
	only   string
}

// host is what else the processors have to do.
type host struct {
	name string
	busy int // endless loops
}

func hosts() []host {
	return []host{{"idle", 0}, {"2 busy threads", 2}, {"8 busy threads", 8}}
}

func run(ctx context.Context, opt options) error {
	work, err := os.MkdirTemp("", "dwell-attaching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	out, err := exec.CommandContext(ctx, "go", "build", "-o", work+"/", "./internal/truth/cmd/service", "./internal/truth/cmd/upstream", "./cmd/dwell").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	b := &bench{options: opt, work: work}
	fmt.Printf("%d processors; s from the start of dwell attach: the median of %d, and the longest\n\n", runtime.NumCPU(), opt.rounds)
	fmt.Println("| service, host | recording begins | CPU until then | recording ended after SIGINT | diagnosis said, of 2 s |")
	fmt.Println("|---|---|---|---|---|")
	for _, s := range subjects() {
		if err := b.service(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// row says how the attachments to one service on one kind of host went.
func row(name string, all []attachment) string {
	cells := []string{name}
	for _, of := range []func(attachment) time.Duration{
		func(a attachment) time.Duration { return a.begun }, func(a attachment) time.Duration { return a.cpu },
		func(a attachment) time.Duration { return a.ended }, func(a attachment) time.Duration { return a.said },
	} {
		var took []time.Duration
		for _, a := range all {
			took = append(took, of(a))
		}
		slices.Sort(took)
		cells = append(cells, fmt.Sprintf("%.2f (%.2f)", took[len(took)/2].Seconds(), took[len(took)-1].Seconds()))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
