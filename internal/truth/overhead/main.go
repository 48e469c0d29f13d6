// Command overhead measures what recording costs: throughput, latency and CPU per
// request of the demo's Go server, a Node server, a JVM and a process that is not watched,
// with and without dwell in alternating rounds. It prints the ratios and puts its tables into
// docs/overhead.md. It runs as root, from the root of the repository, on an otherwise
// idle machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/truth/marked"
)

func main() {
	var opt options
	flag.IntVar(&opt.rounds, "rounds", 5, "rounds of each kind")
	flag.DurationVar(&opt.span, "span", 6*time.Second, "of the load in a round")
	flag.StringVar(&opt.out, "o", "docs/overhead.md", "the document that has the tables; none prints them")
	flag.StringVar(&opt.only, "only", "", "only the servers whose name holds this; print the tables instead of keeping them")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, opt); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(2)
	}
}

type options struct {
	rounds int
	span   time.Duration
	out    string
	only   string
}

// loads are what the servers get. Saturation is closed-loop, so that the server is never
// idle; the open loop's connections are few, so that a pause of the machine does not
// become a storm of new ones.
func loads() []loadKind {
	return []loadKind{
		{"at saturation", []string{"-workers", "32"}, 2},
		{"2,000 requests/s", []string{"-rate", "2000", "-conns", "64"}, 1},
	}
}

func run(ctx context.Context, opt options) error {
	work, err := os.MkdirTemp("", "dwell-overhead-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	out, err := exec.CommandContext(ctx, "go", "build", "-o", work+"/", "./internal/load/cmd/load", "./internal/truth/cmd/upstream", "./internal/truth/cmd/service", "./cmd/dwell").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	b := &bench{options: opt, work: work}
	var rows []row
	for _, kind := range subjects() {
		if !strings.Contains(kind.name, opt.only) {
			continue
		}
		s, err := kind.start(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		for _, l := range loads() {
			compared, err := b.compare(ctx, s, l)
			if err != nil {
				s.stop()
				return fmt.Errorf("%s, %s: %w", kind.name, l.name, err)
			}
			for _, r := range compared {
				r.name = kind.name + ", " + r.name
				fmt.Println(r.summary())
				rows = append(rows, r)
			}
		}
		s.stop()
	}
	if opt.only != "" {
		opt.out = "" // a part of the tables is no new version of them
	}
	return marked.Replace(opt.out, "bench-overhead", []byte(page(rows, opt)))
}
