// Command run plays a case: it starts the emulator, puts load on the bad and the fixed
// variant of the service, records both with dwell, and holds the diagnoses against
// the case's expect.txt. It runs as root from the root of the repository:
//
//	go run ./cases/run [-quick] [-short] [-pair NAME] [-keep] keep-alive
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/getdwell/dwell/cases/expect"
)

func main() {
	var opt options
	flag.BoolVar(&opt.quick, "quick", false, "leave the overload out")
	flag.BoolVar(&opt.short, "short", false, "only the pairs that are marked short, and a shorter overload")
	flag.StringVar(&opt.pair, "pair", "", "only the pair of this name")
	flag.BoolVar(&opt.keep, "keep", false, "instead, cut new recordings for the tests that need no root")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: run [-quick] [-short] [-pair NAME] [-keep] CASE")
		os.Exit(2)
	}
	failed, err := run(ctx, flag.Arg(0), opt, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "case:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

type options struct {
	quick, short, keep bool
	pair               string
}

// run returns how many expectations were not met.
func run(ctx context.Context, name string, opt options, out io.Writer) (failed int, err error) {
	s, err := readSpec(name)
	if err != nil {
		return 0, err
	}
	if opt.short {
		s.shorten()
	}
	key, err := readKey(s)
	if err != nil {
		return 0, err
	}
	st, err := openStage(ctx, s, out)
	if err != nil {
		return 0, err
	}
	results := expect.Results{
		Diagnoses: map[string]*expect.Diagnosis{},
		Clients:   map[string]expect.Client{},
		Savings:   map[string]expect.Saving{},
		Numbers:   map[string]map[string]float64{},
	}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		if opt.short && !p.Short || opt.pair != "" && opt.pair != p.Name {
			continue
		}
		if err := st.playPair(ctx, p, opt, results); err != nil {
			return 0, err
		}
	}
	return verdict(key, results, out), nil
}

func readKey(s *spec) ([]expect.Expectation, error) {
	file, err := os.Open(filepath.Join(s.Dir, "expect.txt"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return expect.Parse(file)
}

// verdict prints every expectation beside what was found.
func verdict(key []expect.Expectation, results expect.Results, out io.Writer) (failed int) {
	outcomes := expect.Check(key, results)
	fmt.Fprintf(out, "\nexpectations (expect.txt)\n")
	for _, o := range outcomes {
		if o.Problem != "" {
			failed++
			fmt.Fprintf(out, "  FAIL  line %d: %s\n        %s\n", o.Line, o.Text, o.Problem)
			continue
		}
		fmt.Fprintf(out, "  ok    %s   [%s]\n", o.Text, o.Seen)
	}
	fmt.Fprintf(out, "%d of %d met; %d not run\n", len(outcomes)-failed, len(outcomes), len(key)-len(outcomes))
	return failed
}
