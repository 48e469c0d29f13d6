// Command load sends HTTP load to a server and prints a summary as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/load"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	var opt load.Options
	flags.StringVar(&opt.URL, "url", "", "what to ask for; {i} in its path becomes the request's number")
	flags.Float64Var(&opt.Rate, "rate", 0, "requests per second, open loop")
	flags.IntVar(&opt.Workers, "workers", 0, "requests at once, closed loop")
	flags.DurationVar(&opt.For, "for", 10*time.Second, "how long requests are started")
	flags.DurationVar(&opt.Drain, "drain", 30*time.Second, "how long answers are waited for afterwards")
	flags.IntVar(&opt.Conns, "conns", 0, "most connections at once in the open loop (default 4096)")
	flags.BoolVar(&opt.Close, "close", false, "one connection per request")
	flags.Uint64Var(&opt.Seed, "seed", 1, "of the gaps between requests")
	log := flags.String("log", "", "file for one line of JSON per request")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, path, found := strings.Cut(strings.TrimPrefix(opt.URL, "http://"), "/"); found && strings.Contains(path, "{i}") {
		opt.Path = func(i int) string { return "/" + strings.ReplaceAll(path, "{i}", strconv.Itoa(i)) }
	}
	result, err := load.Run(ctx, opt)
	if err != nil {
		return err
	}
	if *log != "" {
		if err := writeLog(*log, result); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", " ")
	return enc.Encode(result.Summary())
}

func writeLog(name string, result *load.Result) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := result.WriteLog(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
