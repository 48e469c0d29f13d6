// Command analysis measures what dwell why takes for recordings of many requests. It makes
// them of a real recording, by playing its middle again and again, and prints a table, with one
// of an overload beside them; with -profile, also what most of the memory and of the processor time is for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/getdwell/dwell/recording"
)

func main() {
	var opt options
	flag.StringVar(&opt.seed, "seed", "internal/truth/analysis/testdata/hello.dwell", "a recording of a service at rest between requests, on connections that stay open")
	flag.StringVar(&opt.requests, "requests", "10000,100000,1000000", "of how many requests recordings are made")
	flag.StringVar(&opt.dwell, "dwell", "bin/dwell", "the program that is measured")
	flag.StringVar(&opt.keep, "keep", "", "directory in which the recordings are kept")
	flag.IntVar(&opt.profile, "profile", 0, "a number of requests: print what the analysis of that many keeps, and does")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, opt); err != nil {
		fmt.Fprintln(os.Stderr, "analysis:", err)
		os.Exit(2)
	}
}

type options struct {
	seed, requests, dwell, keep string
	profile                     int
}

func run(ctx context.Context, opt options) error {
	s, err := loadSeed(opt.seed)
	if err != nil {
		return err
	}
	dir := opt.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "dwell-analysis-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if opt.profile > 0 {
		path, err := s.file(dir, opt.profile)
		if err != nil {
			return err
		}
		return profile(os.Stdout, dir, path)
	}
	fmt.Println("| requests | MB of file | s | s of CPU | MB at most | bytes a request | us of CPU a request |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for text := range strings.SplitSeq(opt.requests, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-requests: %w", err)
		}
		path, err := s.file(dir, n)
		if err == nil {
			err = opt.measure(ctx, path, "", s.times(n)*s.requests)
		}
		if err != nil {
			return err
		}
	}
	path, err := overloadFile(dir, overloaded)
	if err != nil {
		return err
	}
	return opt.measure(ctx, path, " of an overload", overloaded)
}

// overloaded is how many requests an overload has: about half a million facts.
const overloaded = 20_000

// measure prints the row of a recording.
func (o *options) measure(ctx context.Context, path, what string, requests int) error {
	row, err := measure(ctx, o.dwell, path)
	if err != nil {
		return err
	}
	fmt.Println(row.text(what, requests))
	if o.keep == "" {
		os.Remove(path)
	}
	return nil
}

func loadSeed(path string) (*seed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rec, err := recording.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := newSeed(rec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// file makes a recording of at least so many requests, and returns its path.
func (s *seed) file(dir string, requests int) (string, error) {
	return written(dir, strconv.Itoa(requests), func(w *recording.Writer) error { return s.write(w, s.times(requests)) })
}

// overloadFile makes a recording of an overload, and returns its path.
func overloadFile(dir string, requests int) (string, error) {
	rec, err := overload(requests)
	if err != nil {
		return "", err
	}
	return written(dir, "overload", func(w *recording.Writer) error {
		err := writeAll(w, rec.Events, func(e recording.Event) (recording.Event, bool) { return e, true })
		return errors.Join(err, w.Close())
	})
}

// written makes a recording of a name, and returns its path.
func written(dir, name string, write func(*recording.Writer) error) (string, error) {
	path := filepath.Join(dir, name+".dwell")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w, err := recording.NewWriter(f)
	if err == nil {
		err = write(w)
	}
	return path, errors.Join(err, f.Close())
}

// row is what one analysis took.
type row struct {
	stored    int64 // bytes
	wall, cpu float64
	most      int64 // bytes that were resident at once
}

func (r row) text(what string, requests int) string {
	return fmt.Sprintf("| %d%s | %.1f | %.2f | %.2f | %.0f | %d | %.0f |", requests, what, float64(r.stored)/1e6, r.wall, r.cpu, float64(r.most)/1e6, r.most/int64(requests), r.cpu/float64(requests)*1e6)
}

// measure runs dwell why on a recording.
func measure(ctx context.Context, dwell, path string) (row, error) {
	info, err := os.Stat(path)
	if err != nil {
		return row{}, err
	}
	c := exec.CommandContext(ctx, dwell, "why", path, "--json")
	c.Stdout, c.Stderr = io.Discard, os.Stderr
	begun := time.Now()
	if err := c.Run(); err != nil {
		return row{}, fmt.Errorf("%s: %w", c, err)
	}
	used, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return row{}, fmt.Errorf("%s: nothing tells what it used", c)
	}
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return row{stored: info.Size(), wall: time.Since(begun).Seconds(), cpu: took.Seconds(), most: used.Maxrss * 1024}, nil
}
