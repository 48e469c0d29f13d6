// Command run plays a case: it starts the emulator, puts load on the bad and the fixed
// variant of the service, records both with dwell, and holds the diagnoses against
// the case's expect.txt. It runs as root from the root of the repository:
//
//	go run ./cases/run [-quick] [-keep] keep-alive
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/getdwell/dwell/cases/expect"
)

func main() {
	quick := flag.Bool("quick", false, "leave the overload out")
	keep := flag.Bool("keep", false, "also cut new recordings for the tests that need no root")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: run [-quick] [-keep] CASE")
		os.Exit(2)
	}
	failed, err := run(ctx, flag.Arg(0), options{*quick, *keep}, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "case:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

type options struct{ quick, keep bool }

// run returns how many expectations were not met.
func run(ctx context.Context, name string, opt options, out io.Writer) (failed int, err error) {
	s, err := readSpec(name)
	if err != nil {
		return 0, err
	}
	key, err := readKey(s)
	if err != nil {
		return 0, err
	}
	if err := s.install(ctx, out); err != nil {
		return 0, err
	}
	sc, err := openScene(ctx, s)
	if err != nil {
		return 0, err
	}
	defer sc.emulator.Stop()
	results := expect.Results{Diagnoses: map[string]*expect.Diagnosis{}, Savings: map[string]expect.Saving{}}
	if err := sc.compare(ctx, take{scenario: "moderate", rate: s.Rate, seconds: s.Seconds}, results, out); err != nil {
		return 0, err
	}
	if !opt.quick {
		knee, err := sc.knee(ctx, "bad")
		if err != nil {
			return 0, fmt.Errorf("looking for the knee: %w", err)
		}
		rate := knee * s.OverloadPercent / 100
		fmt.Fprintf(out, "\nthe bad variant answers %.0f requests/s at most; overload is %.0f\n", knee, rate)
		if err := sc.compare(ctx, take{scenario: "overload", rate: rate, seconds: s.OverloadSeconds}, results, out); err != nil {
			return 0, err
		}
	}
	if opt.keep {
		if err := sc.keep(ctx, out); err != nil {
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

// compare plays the bad variant, writes the prediction down, then plays the fixed one.
// The take's scenario is "moderate" or "overload".
func (sc *scene) compare(ctx context.Context, t take, results expect.Results, out io.Writer) error {
	at := t.scenario
	t.scenario, t.variant = "bad/"+at, "bad"
	bad, err := sc.play(ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.scenario, err)
	}
	bad.print(out)
	predicted, err := sc.predict(at, bad, out)
	if err != nil {
		return err
	}
	t.scenario, t.variant = "fixed/"+at, "fixed"
	fixed, err := sc.play(ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.scenario, err)
	}
	fixed.print(out)
	results.Diagnoses[bad.Scenario], results.Diagnoses[fixed.Scenario] = bad.Diagnosis, fixed.Diagnosis
	results.Savings[at+" p50"] = expect.Saving{Predicted: predicted.P50, Measured: bad.Client.P50 - fixed.Client.P50}
	results.Savings[at+" p99"] = expect.Saving{Predicted: predicted.P99, Measured: bad.Client.P99 - fixed.Client.P99}
	return nil
}

// predict writes the saving of the first finding to a file, before the fixed variant
// has run.
func (sc *scene) predict(at string, bad *played, out io.Writer) (expect.Impact, error) {
	var first expect.Item
	if len(bad.Diagnosis.Findings) > 0 {
		first = bad.Diagnosis.Findings[0]
	}
	text, err := json.MarshalIndent(map[string]any{
		"written": time.Now().UTC(), "scenario": bad.Scenario, "finding": first.ID,
		"p50_saving_ns": first.Impact.P50, "p99_saving_ns": first.Impact.P99,
	}, "", " ")
	if err != nil {
		return first.Impact, err
	}
	name := filepath.Join(sc.Work, "predicted-"+at+".json")
	fmt.Fprintf(out, "  predicted before the fixed variant runs, in %s: p50 -%.2f ms, p99 -%.2f ms\n", name, ms(first.Impact.P50), ms(first.Impact.P99))
	return first.Impact, os.WriteFile(name, append(text, '\n'), 0o644)
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
