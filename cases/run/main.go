// Command run plays a case: it starts the emulator, puts load on the bad and the fixed
// variant of the service, records both with dwell, and holds the diagnoses against
// the case's expect.txt. It runs as root from the root of the repository:
//
//	go run ./cases/run [-quick] [-short] [-tries N] [-pair NAME] [-beside half|bursts] [-keep] [-install] keep-alive
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/getdwell/dwell/cases/expect"
	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/internal/truth/rival"
)

func main() {
	var opt options
	flag.BoolVar(&opt.quick, "quick", false, "leave the overload out")
	flag.BoolVar(&opt.short, "short", false, "only the pairs that are marked short, and a shorter overload")
	flag.IntVar(&opt.tries, "tries", 1, "how often a pair may be played until its expectations are met: what else happens on a machine can only make it miss them; while its host is busy, up to three times as often")
	flag.StringVar(&opt.pair, "pair", "", "only the pair of this name")
	flag.BoolVar(&opt.keep, "keep", false, "instead, cut new recordings for the tests that need no root")
	flag.BoolVar(&opt.install, "install", false, "instead, fetch and compile what the case is made of")
	flag.StringVar(&opt.beside, "beside", "", "play beside a competitor: half (of each processor) or bursts")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: run [-quick] [-short] [-tries N] [-pair NAME] [-beside half|bursts] [-keep] [-install] CASE")
		os.Exit(2)
	}
	if err := rival.Compete(ctx, opt.beside); err != nil {
		fmt.Fprintln(os.Stderr, "case:", err)
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
	quick, short, keep, install bool
	tries                       int
	pair, beside                string
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
	if err := s.install(ctx, out); err != nil || opt.install {
		return 0, err
	}
	st, err := openStage(ctx, s, out)
	if err != nil {
		return 0, err
	}
	results := newResults()
	for i := range s.Pairs {
		p := &s.Pairs[i]
		if opt.short && !p.Short || opt.pair != "" && opt.pair != p.Name {
			continue
		}
		of, err := st.tryPair(ctx, p, opt, key)
		if err != nil {
			return 0, err
		}
		add(results, of)
	}
	return verdict(key, results, out), nil
}

// calmWithin is how long to wait, after a try that failed, for the host's processors; mostTries
// bounds how often more a pair is played for want of them.
const (
	calmWithin = time.Minute
	mostTries  = 3
)

// tryPair plays a pair until its expectations are met, or for the last time. A try
// while the host gave the processors to others does not count, as long as there are
// not too many.
func (st *stage) tryPair(ctx context.Context, p *pair, opt options, key []expect.Expectation) (expect.Results, error) {
	for n, counted := 1, 0; ; n++ {
		results := newResults()
		from := calm.Now()
		err := st.playPair(ctx, p, opt, results)
		stolen := calm.Stolen(from, calm.Now())
		if stolen < calm.Limit {
			counted++
		}
		problems := missed(key, results)
		if err != nil {
			problems = append(problems, err.Error())
		}
		if len(problems) == 0 || counted >= opt.tries || n >= mostTries*opt.tries || ctx.Err() != nil {
			return results, err
		}
		fmt.Fprintf(st.out, "\nTRY %d of %d of %s %s FAILED (the host had %.1f %% of the processors):\n  %s\n",
			n, opt.tries, st.Name, p.Name, 100*stolen, strings.Join(problems, "\n  "))
		calm.Wait(ctx, calmWithin)
	}
}

func newResults() expect.Results {
	return expect.Results{
		Diagnoses: map[string]*expect.Diagnosis{},
		Clients:   map[string]expect.Client{},
		Savings:   map[string]expect.Saving{},
		Numbers:   map[string]map[string]float64{},
	}
}

// add puts the results of a pair to the others.
func add(all, of expect.Results) {
	maps.Copy(all.Diagnoses, of.Diagnoses)
	maps.Copy(all.Clients, of.Clients)
	maps.Copy(all.Savings, of.Savings)
	maps.Copy(all.Numbers, of.Numbers)
}

// missed are the expectations that were not met, and what was found instead.
func missed(key []expect.Expectation, results expect.Results) (problems []string) {
	for _, o := range expect.Check(key, results) {
		if o.Problem != "" {
			problems = append(problems, fmt.Sprintf("line %d: %s: %s", o.Line, o.Text, o.Problem))
		}
	}
	return problems
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
