// Command record plays the services of the corpus, records each, and keeps the recording
// and what the peers logged. It needs root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth"
	"github.com/getdwell/dwell/internal/truth/corpus"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// settle is how long the last facts may take to be drained.
const settle = 300 * time.Millisecond

// undecided is dwell's exit status when some hypothesis stayed so.
const undecided = 3

type options struct {
	work, into string
	span       time.Duration
}

func main() {
	var opt options
	flag.StringVar(&opt.work, "work", "bin/corpus", "folder of what was installed and built for the services")
	flag.StringVar(&opt.into, "into", "internal/truth/corpus/testdata", "folder for the recordings")
	flag.DurationVar(&opt.span, "for", 3*time.Second, "how long to record each")
	list := flag.Bool("list", false, "list the services and end")
	flag.Parse()
	if *list {
		for _, s := range services() {
			fmt.Println(s.name)
		}
		return
	}
	p, err := listen()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range services() {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), s.name) {
			continue
		}
		if err := s.keep(p, opt); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
	}
}

// keep plays a service and writes its recording and its truth.
func (s service) keep(p *peers, opt options) error {
	dir, err := os.MkdirTemp("", "dwell-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := dir + "/recording.dwell"
	sent, err := s.play(p, opt, file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	packed, err := corpus.Pack(data)
	if err != nil {
		return err
	}
	logged := truth.Truth{Client: sent.Log, Exchanges: p.during(sent.Start, sent.End), From: sent.Start, To: sent.End}
	packedTruth, err := corpus.PackTruth(logged)
	if err != nil {
		return err
	}
	fmt.Printf("%-24s %5d requests %5d calls %7d + %6d bytes\n", s.name, len(sent.Log), len(logged.Exchanges), len(packed), len(packedTruth))
	name := filepath.Join(opt.into, s.name)
	return errors.Join(os.WriteFile(name+corpus.RecordingSuffix, packed, 0o644), os.WriteFile(name+corpus.TruthSuffix, packedTruth, 0o644))
}

// play starts the service, puts load on it and records it.
func (s service) play(p *peers, opt options, file string) (*load.Result, error) {
	ctx := context.Background()
	here, err := freePort()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(here, ":")
	work, err := filepath.Abs(opt.work)
	if err != nil {
		return nil, err
	}
	env := []string{"PORT=" + port, "HTTP=" + p.HTTP, "UPSTREAM=" + p.HTTP, "REDIS=" + p.REDIS, "POSTGRES=" + p.POSTGRES, "MODULES=" + work, "LOG=/dev/null"}
	within := func(all []string) (put []string) {
		for _, one := range all {
			put = append(put, strings.ReplaceAll(one, "{}", work))
		}
		return put
	}
	of, err := proc.Start(ctx, proc.Options{Args: within(s.args), Env: append(env, within(s.env)...), Ready: "ready"})
	if err != nil {
		return nil, err
	}
	defer of.Stop()
	send := func(span time.Duration) (*load.Result, error) {
		r, err := load.Run(ctx, load.Options{URL: "http://" + here + "/", Rate: s.rate, Workers: s.workers, For: span, Seed: 7, Path: s.path})
		if err != nil {
			return nil, err
		}
		if sum := r.Summary(); sum.Errors+sum.Failed > 0 || sum.Answered == 0 {
			return nil, fmt.Errorf("the load was not answered properly: %+v\n%s", sum, of.Tail())
		}
		return r, nil
	}
	// What is made at first, such as connections of a pool, is made by now.
	if _, err := send(time.Second); err != nil {
		return nil, err
	}
	recorder, err := proc.Start(ctx, proc.Options{
		Args:  []string{"bin/dwell", "attach", "--pid", strconv.Itoa(of.PID()), "--for", "10m", "--windows", "off", "--stack-rate", "0", "-o", file},
		Ready: "all that can be seen",
	})
	if err != nil {
		return nil, err
	}
	defer recorder.Stop()
	span := opt.span
	if s.workers > 0 {
		span /= 4 // it has as much to do as it can
	}
	sent, err := send(span)
	if err != nil {
		return nil, err
	}
	time.Sleep(settle)
	if err := recorder.Interrupt(time.Minute); err != nil && proc.Status(err) != undecided {
		return nil, err
	}
	return sent, nil
}
