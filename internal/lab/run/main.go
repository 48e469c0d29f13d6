// Command run plays the laboratory and prints its tables; make lab keeps them in docs/accuracy.md.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/getdwell/dwell/internal/lab"
	"github.com/getdwell/dwell/internal/lab/score"
	"github.com/getdwell/dwell/internal/truth/marked"
	"github.com/getdwell/dwell/recording"
)

func main() {
	trials := flag.Int("trials", 10, "services for each fault and strength")
	healthy := flag.Int("healthy", 1000, "services that nothing is wrong with")
	requests := flag.Int("requests", 400, "of each service")
	into := flag.String("into", "", "the document whose tables are replaced; \"\" prints them")
	flag.Parse()
	var tables bytes.Buffer
	fmt.Fprintf(&tables, "Played with `go run ./internal/lab/run -trials %d -requests %d`.\n\n", *trials, *requests)
	if err := play(io.MultiWriter(&tables, os.Stderr), *trials, *healthy, *requests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := marked.Replace(*into, "lab", tables.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(out io.Writer, trials, healthy, requests int) error {
	by := workers()
	said, seeds, err := score.Healthy(by, healthy, requests)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Of %d healthy services of %d requests each, %d have a finding", healthy, requests, len(seeds))
	for name, n := range said {
		fmt.Fprintf(out, "; %s %d", name, n)
	}
	if len(seeds) > 0 {
		fmt.Fprintf(out, " (seeds %v)", seeds[:min(10, len(seeds))])
	}
	fmt.Fprintf(out, ".\n\n")
	var rows []*score.Row
	faults := lab.Faults()
	for i := range faults {
		for _, strength := range score.Strengths() {
			row, err := score.Play(by, &faults[i], strength, score.Size{Services: trials, Requests: requests})
			if err != nil {
				return err
			}
			rows = append(rows, row)
			fmt.Fprintf(os.Stderr, "%s %g %%\n", row.Fault, 100*row.Strength)
		}
	}
	score.Overall(out, rows)
	score.Rows(out, rows)
	return nil
}

// workers returns one worker per processor.
func workers() recording.Workers {
	n := runtime.GOMAXPROCS(0)
	return recording.Workers{N: n, Each: func(things int, do func(worker, i int)) {
		var next atomic.Int64
		var all sync.WaitGroup
		for worker := range n {
			all.Go(func() {
				for i := int(next.Add(1)) - 1; i < things; i = int(next.Add(1)) - 1 {
					do(worker, i)
				}
			})
		}
		all.Wait()
	}}
}
