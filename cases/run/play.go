package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/cases/expect"
	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// dwell is the binary under test.
const dwell = "bin/dwell"

// undecided is its exit status when some hypothesis stayed so; the expectations judge
// that.
const undecided = 3

// played is one scenario: a variant under a load, recorded.
type played struct {
	Scenario  string
	Client    load.Summary
	Database  handlerTimes
	Diagnosis *expect.Diagnosis
	File      string // the recording
}

// take says what to play.
type take struct {
	scenario, variant string
	rate              float64
	seconds           float64
	settle            time.Duration // before the load: the recorder gets to know the code
}

// play starts the variant, records it under load, and diagnoses the recording.
func (sc *scene) play(ctx context.Context, t take) (*played, error) {
	p := &played{Scenario: t.scenario, File: sc.file(t, ".dwell")}
	recorder, stop, err := sc.recorded(ctx, t)
	if err != nil {
		return nil, err
	}
	defer stop()
	time.Sleep(t.settle)
	p.Client, err = sc.send(ctx, t.seconds, "-rate", fmt.Sprint(t.rate), "-seed", "2")
	if stopped := recorder.Interrupt(endWithin); err == nil && proc.Status(stopped) != undecided {
		err = stopped
	}
	if err != nil {
		return nil, err
	}
	if p.Database, err = sc.handlerTimes(); err != nil {
		return nil, err
	}
	p.Diagnosis, err = why(ctx, p.File, sc.file(t, ".json"))
	return p, err
}

// recorded starts the variant and its recorder; stop ends the service.
func (sc *scene) recorded(ctx context.Context, t take) (recorder *proc.Process, stop func(), err error) {
	if sc.pair.FromStart {
		recorder, err = sc.fromStart(ctx, t)
		return recorder, func() {}, err
	}
	service, err := sc.service(ctx, t.variant)
	if err != nil {
		return nil, nil, err
	}
	if _, err = sc.handlerTimes(); err == nil {
		recorder, err = sc.record(ctx, service.PID(), t)
	}
	if err != nil {
		service.Stop()
		return nil, nil, err
	}
	return recorder, service.Stop, nil
}

// fromStart has the recorder start the variant, and returns when that is ready. It ends
// with the recorder.
func (sc *scene) fromStart(ctx context.Context, t take) (*proc.Process, error) {
	file, err := filepath.Abs(sc.file(t, ".dwell"))
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(dwell)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(file)
	return proc.Start(ctx, proc.Options{
		Args:  append([]string{binary, "run", "--for", "10m", "-o", file, "--"}, sc.Service.Args...),
		Env:   sc.env(t.variant),
		Dir:   sc.Dir,
		Ready: "ready",
	})
}

// file is where something of a take is kept.
func (st *stage) file(t take, suffix string) string {
	return filepath.Join(st.Work, strings.ReplaceAll(t.scenario, "/", "-")+suffix)
}

// record starts a recorder and returns when it records.
func (st *stage) record(ctx context.Context, pid int, t take) (*proc.Process, error) {
	file := st.file(t, ".dwell")
	_ = os.Remove(file)
	return proc.Start(ctx, proc.Options{
		Args:  []string{dwell, "attach", "--pid", strconv.Itoa(pid), "--for", "10m", "-o", file},
		Ready: "all that can be seen",
	})
}

// why diagnoses a recording in either form, and keeps the JSON.
func why(ctx context.Context, recording, keep string) (*expect.Diagnosis, error) {
	cmd := exec.CommandContext(ctx, dwell, "why", recording, "--json")
	cmd.Stderr = os.Stderr
	from := time.Now()
	out, err := cmd.Output()
	if err != nil && proc.Status(err) != undecided {
		return nil, fmt.Errorf("dwell why %s: %w", recording, err)
	}
	if err := os.WriteFile(keep, out, 0o644); err != nil {
		return nil, err
	}
	d, err := expect.Read(bytes.NewReader(out))
	if err == nil {
		fmt.Fprintf(os.Stderr, "diagnosed %d events in %.1f s\n", d.Recording.Events, time.Since(from).Seconds())
	}
	return d, err
}

// lookedLines are printed of what a command says.
const lookedLines = 12

// look prints what the pair's commands say of a recording; that there is nothing to say
// they tell with their status, and that is printed too.
func (sc *scene) look(ctx context.Context, file string) error {
	for _, args := range sc.pair.Look {
		args = append([]string{args[0], file}, args[1:]...)
		out, err := exec.CommandContext(ctx, dwell, args...).CombinedOutput()
		if err != nil && proc.Status(err) < 0 {
			return fmt.Errorf("dwell %s: %w", strings.Join(args, " "), err)
		}
		lines := strings.SplitAfter(string(out), "\n")
		fmt.Fprintf(sc.out, "  dwell %s\n    %s\n", strings.Join(args, " "), strings.TrimSpace(strings.Join(lines[:min(len(lines), lookedLines)], "    ")))
	}
	return nil
}

// print shows the client's view, the database's and dwell's of the same calls.
func (p *played) print(out io.Writer) {
	d := p.Diagnosis
	fmt.Fprintf(out, "\n%s: %.0f requests/s\n", p.Scenario, p.Client.Rate)
	fmt.Fprintf(out, "  the client waited     p50 %9.2f ms   p99 %9.2f ms   (%d requests, %d without an answer)\n",
		ms(p.Client.P50), ms(p.Client.P99), p.Client.Requests, p.Client.Errors)
	fmt.Fprintf(out, "    of that once sent   p50 %9.2f ms   p99 %9.2f ms\n", ms(p.Client.Service50), ms(p.Client.Service99))
	fmt.Fprintf(out, "  dwell: requests       p50 %9.2f ms   p99 %9.2f ms   (%d, %d cut, %.1f%% unaccounted, %.0f%% of calls associated)\n",
		ms(d.Requests.P50), ms(d.Requests.P99), d.Requests.Count, d.Requests.Cut, 100*d.Requests.Unaccounted, 100*d.Requests.Associated)
	if p.Database.Count > 0 {
		fmt.Fprintf(out, "  the database's metric p50 %9.2f ms   p99 %9.2f ms   (%d calls)\n", ms(p.Database.P50), ms(p.Database.P99), p.Database.Count)
	}
	if p.Database.Note != "" {
		fmt.Fprintf(out, "  %s\n", p.Database.Note)
	}
	for _, c := range d.Calls {
		fmt.Fprintf(out, "  dwell: calls          p50 %9.2f ms   p99 %9.2f ms   (%d to %s, %.0f%% on a new connection)\n   ",
			ms(c.P50), ms(c.P99), c.Count, c.Peer, 100*c.New)
		for _, phase := range []string{"queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive"} {
			fmt.Fprintf(out, " %s %.2f", phase, ms(c.Phases[phase]))
		}
		fmt.Fprintln(out, " ms")
	}
	for _, f := range d.Findings {
		fmt.Fprintf(out, "  finding: %s: %s\n    saves %.2f ms of p50, %.2f ms of p99\n", f.ID, f.Title, ms(f.Impact.P50), ms(f.Impact.P99))
	}
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }
