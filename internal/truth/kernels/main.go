// Command kernels boots kernels of Debian in an emulated machine, plays dwell in each, and
// prints how it went: what make test-kernels runs.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
	"github.com/getdwell/dwell/internal/truth/marked"
)

// all is what is tried where nothing is chosen, sample what every change is tried on.
const (
	all    = "6.1 6.12 6.18 7.0 7.1 7.2 7.3 6.1/arm64 6.12/arm64"
	sample = "6.1 newest"
)

type options struct {
	kernels string
	cache   string
	page    string // to write the table into
	within  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kernels, "kernels", "", "which: 6.12 newest 6.12/arm64 /boot/vmlinuz-6.5, or sample; without it, "+all)
	flag.StringVar(&o.cache, "cache", "", "where kernels are kept; without it, the user's cache directory")
	flag.StringVar(&o.page, "page", "", "page to write the table into")
	flag.DurationVar(&o.within, "within", 30*time.Minute, "how long one kernel may take: a host that has other work makes it late, not wrong")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "test-kernels:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	switch o.kernels {
	case "":
		o.kernels = all
	case "sample":
		o.kernels = sample
	}
	if o.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("%w (or say -cache DIRECTORY)", err)
		}
		o.cache = filepath.Join(dir, "dwell-kernels")
	}
	store := &archive{dir: o.cache, images: map[string]string{}}
	names := strings.Fields(o.kernels)
	rows, failures := make([]row, len(names)), make([]error, len(names))
	var booting errgroup.Group
	booting.SetLimit(runtime.NumCPU()) // each emulated machine takes one processor, and its clock does not look at ours
	for i, name := range names {
		k, image, err := fetch(ctx, store, name)
		if rows[i].name = cmp.Or(k.release, name); err != nil {
			failures[i] = fmt.Errorf("%s: %w", name, err)
			continue
		}
		booting.Go(func() error {
			if rows[i].outcome, err = play(ctx, k, image, o.within); err != nil {
				failures[i] = fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	failed := errors.Join(booting.Wait(), errors.Join(failures...))
	fmt.Printf("\n%s", table(rows))
	if o.page != "" {
		failed = errors.Join(failed, marked.Replace(o.page, "test-kernels", []byte("\n"+table(rows)+"\n")))
	}
	return failed
}

// fetch returns a kernel and what it boots into.
func fetch(ctx context.Context, store *archive, name string) (kernel, string, error) {
	k, err := store.kernel(ctx, name)
	if err != nil {
		return k, "", err
	}
	image, err := store.initramfs(ctx, k.arch)
	return k, image, err
}

// play boots and judges one kernel.
func play(ctx context.Context, k kernel, image string, within time.Duration) (*outcome.Outcome, error) {
	began := time.Now()
	fmt.Printf("%s, %s: booting (the console: %s)\n", k.release, k.arch, k.console)
	got, err := boot(ctx, k, image, within)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s, %s: %+v after %.0f s\n", k.release, k.arch, *got, time.Since(began).Seconds())
	return got, problems(got)
}
