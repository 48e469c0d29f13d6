// Command faults is the live fault bench: small services in five runtimes, each with a fault and
// without, are put under load and recorded. What dwell says of the faulty one is held against
// what was planted, and what it promises against what the clients of the one without wait less.
// Strengths, delays, names and rates are drawn from the seeds. It runs as root from the root of
// the repository; make faults prepares what it needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	seeds   string
	only    string
	results string
	resume  bool
	play    bool
	into    string
	keep    string
	span    time.Duration
	most    time.Duration
}

func main() {
	var opt options
	flag.StringVar(&opt.seeds, "seeds", "", "what is drawn from, \"1,2,3\": of each seed every fault once; \"\": three seeds of the day")
	flag.StringVar(&opt.only, "only", "", "regular expression: of all faults in all runtimes, those whose name (fault/runtime/seed) it matches")
	flag.StringVar(&opt.results, "results", "bin/faults.jsonl", "file of the results, one a line")
	flag.BoolVar(&opt.resume, "resume", false, "keep the results that there are, and do not play them again")
	flag.BoolVar(&opt.play, "play", true, "play; with -play=false -resume, make the table of the results that there are")
	flag.StringVar(&opt.into, "into", "", "the document whose table is replaced; \"\" prints it")
	flag.StringVar(&opt.keep, "keep", "", "folder that recordings are kept in")
	flag.DurationVar(&opt.span, "span", 5*time.Second, "how long is recorded")
	flag.DurationVar(&opt.most, "most", 0, "begin none after so long; 0: all of them")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, opt); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, opt options) error {
	if !opt.resume {
		if err := os.Remove(opt.results); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	have, err := readResults(opt.results)
	if err != nil {
		return err
	}
	left := 0
	if opt.play {
		list, err := chosen(opt)
		if err != nil {
			return err
		}
		if left, err = playAll(ctx, opt, list, have); err != nil {
			return err
		}
	}
	if left > 0 {
		fmt.Printf("%d of them are left: go on with -resume\n", left)
		return nil
	}
	return publish(opt.into, have)
}

// chosen are the plans that the options ask for; it says which seeds they are drawn from.
func chosen(opt options) (list []plan, err error) {
	only, err := regexp.Compile(opt.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	if opt.seeds == "" {
		opt.seeds = fmt.Sprintf("%d,%d,%d", rand.IntN(10_000), rand.IntN(10_000), rand.IntN(10_000))
	}
	fmt.Println("seeds:", opt.seeds)
	for _, text := range strings.Split(opt.seeds, ",") {
		seed, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-seeds %s: %q is not a number", opt.seeds, text)
		}
		all := drawAll(seed)
		if opt.only == "" {
			all = oneOfEach(all)
		}
		for _, p := range all {
			if only.MatchString(p.name()) {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("-only %s: nothing is called so; names are like n-plus-one/go/%s", opt.only, strings.Split(opt.seeds, ",")[0])
	}
	return list, nil
}

// playAll plays what has no result yet, adds the results, and tells how many are left.
func playAll(ctx context.Context, opt options, list []plan, have map[string]*result) (left int, err error) {
	st, err := openStage(ctx, opt)
	if err != nil {
		return 0, err
	}
	defer st.close()
	begun := time.Now()
	for _, p := range list {
		if have[p.name()] != nil {
			continue
		}
		if opt.most > 0 && time.Since(begun) > opt.most {
			left++
			continue
		}
		r, err := st.play(ctx, p)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil { // others can be played all the same
			fmt.Fprintf(os.Stderr, "faults: %s could not be played: %v\n", p.name(), err)
			left++
			continue
		}
		have[p.name()] = r
		fmt.Println(r.line())
		if err := appendResult(opt.results, r); err != nil {
			return 0, err
		}
	}
	return left, nil
}
