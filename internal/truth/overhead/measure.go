package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth/proc"
	"github.com/getdwell/dwell/recording"
)

// endWithin bounds how long the recorder may take to end.
const endWithin = 2 * time.Minute

// undecided is dwell's exit status when some hypothesis stayed so.
const undecided = 3

// bench is one run of this program.
type bench struct {
	options
	work string
}

type loadKind struct {
	name  string
	args  []string // of the load generator
	spans int      // how long it lasts: recording in windows is to be seen as it goes on
}

// sample is one round. CPU is in ns.
type sample struct {
	load.Summary
	serverCPU  float64 // per request; what dwell's programs cost on the server's threads is in it
	machineCPU float64 // per request: every process, and the kernel
	recorder   cost    // zero without dwell
}

// cost of the recorder, in cores, and its memory in bytes.
type cost struct {
	user, bpf float64
	peak      int64
	programs  []capture.ProgramCost // during the load
	events    float64               // a request
	stacks    float64               // a request
	recorded  float64               // share of the time that was recorded
}

// mode is how a round is recorded.
type mode struct {
	name     string
	recorder []string // arguments of dwell; nil: not at all
}

// part is something that the recorder can do without.
type part struct {
	flag    string // that turns it off
	without string // name of rows without it
	against string // name of rows that compare dwell with and without it
}

// modes are without and with dwell, and with dwell but without a part of it.
func modes(p *part) []mode {
	all := []mode{{"", nil}, {"with dwell", []string{"attach"}}}
	if p != nil {
		all = append(all, mode{p.without, []string{"attach", p.flag}})
	}
	return all
}

// compare alternates rounds of each mode. The first row is dwell against nothing.
func (b *bench) compare(ctx context.Context, s *subject, l loadKind) ([]row, error) {
	if _, err := b.send(ctx, s, l, 2*time.Second); err != nil { // warm-up
		return nil, err
	}
	modes := modes(s.part)
	samples := make([][]sample, len(modes))
	for round := range b.rounds {
		for k := range modes {
			i := k
			if round%2 == 1 { // there and back, so that a server that still gets faster favours no mode
				i = len(modes) - 1 - k
			}
			one, err := b.round(ctx, s, l, modes[i])
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], one)
		}
	}
	rows := []row{{name: l.name, without: samples[0], with: samples[1], own: true}}
	if n := b.rounds - 1; n > 0 { // what the machine alone does to these figures
		rows = append(rows, row{name: l.name + ", two rounds without dwell", without: samples[0][:n], with: samples[0][1:]})
	}
	if s.part != nil {
		rows = append(rows,
			row{name: l.name + ", " + s.part.without, without: samples[0], with: samples[2], own: true},
			row{name: l.name + ", " + s.part.against, without: samples[2], with: samples[1]})
	}
	return rows, nil
}

func (b *bench) round(ctx context.Context, s *subject, l loadKind, m mode) (one sample, err error) {
	file := b.work + "/recording.dwell"
	var recorder *proc.Process
	if m.recorder != nil {
		os.Remove(file)
		args := append([]string{b.work + "/dwell"}, m.recorder...)
		recorder, err = proc.Start(ctx, proc.Options{
			Args:  append(args, "--pid", strconv.Itoa(s.watched), "--for", "10m", "-o", file),
			Ready: "all that can be seen",
		})
		if err != nil {
			return one, err
		}
		defer recorder.Stop()
	}
	before, err := readClocks(s, recorder)
	if err != nil {
		return one, err
	}
	if one.Summary, err = b.send(ctx, s, l, time.Duration(l.spans)*b.span); err != nil {
		return one, err
	}
	after, err := readClocks(s, recorder)
	if err != nil {
		return one, err
	}
	n := float64(one.Answered)
	one.serverCPU = float64(after.server-before.server) / n
	one.machineCPU = float64(after.machine-before.machine) / n
	if recorder == nil {
		return one, nil
	}
	one.recorder.user = float64(after.recorder-before.recorder) / float64(after.at.Sub(before.at))
	one.recorder.peak = after.peak
	one.recorder.programs = spent(before.programs, after.programs)
	if err := recorder.Interrupt(endWithin); err != nil && proc.Status(err) != undecided && s.pid == s.watched {
		return one, err // a bystander's recording holds no request, which dwell says
	}
	return one, b.readRecording(file, &one)
}

func (b *bench) send(ctx context.Context, s *subject, l loadKind, span time.Duration) (sum load.Summary, err error) {
	args := append([]string{"-c", otherCPU, b.work + "/load", "-url", s.url, "-for", span.String()}, l.args...)
	out, err := exec.CommandContext(ctx, "taskset", args...).Output()
	if err != nil {
		return sum, fmt.Errorf("the load generator: %w", err)
	}
	if err = json.Unmarshal(out, &sum); err == nil && (sum.Errors+sum.Failed > 0 || sum.Answered == 0) {
		err = fmt.Errorf("the load was not answered properly: %s", out)
	}
	return sum, err
}

// clocks are cumulative CPU times, in ns.
type clocks struct {
	at                        time.Time
	server, machine, recorder int64
	peak                      int64 // bytes
	programs                  []capture.ProgramCost
}

// tick is the unit of /proc's CPU times; the kernel's USER_HZ is 100 everywhere.
const tick = 10_000_000

func readClocks(s *subject, recorder *proc.Process) (c clocks, err error) {
	c.at = time.Now()
	if c.server, err = processCPU(s.pid); err != nil {
		return c, err
	}
	if c.machine, err = machineCPU(); err != nil || recorder == nil {
		return c, err
	}
	if c.recorder, err = processCPU(recorder.PID()); err != nil {
		return c, err
	}
	if c.programs, err = capture.ProgramCosts(recorder.PID()); err != nil {
		return c, err
	}
	c.peak, err = peakMemory(recorder.PID())
	return c, err
}

func processCPU(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	return sum(fields[11:13]) * tick, nil // utime, stime
}

func machineCPU() (int64, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)[1:] // user nice system idle iowait irq softirq steal
	return (sum(fields[:3]) + sum(fields[5:7])) * tick, nil
}

func peakMemory(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	return sum(strings.Fields(rest)[:1]) * 1024, nil
}

// sum adds numbers that the kernel printed.
func sum(fields []string) (total int64) {
	for _, f := range fields {
		n, _ := strconv.ParseInt(f, 10, 64)
		total += n
	}
	return total
}

// spent is what each program cost between two readings.
func spent(before, after []capture.ProgramCost) []capture.ProgramCost {
	for i := range after {
		for _, b := range before {
			if b.Program == after[i].Program {
				after[i].Runs -= b.Runs
				after[i].Time -= b.Time
			}
		}
	}
	return after
}

// readRecording takes from a recording what it says of itself: the run time of dwell's
// programs in the kernel, in cores, and its events and stacks.
func (b *bench) readRecording(file string, one *sample) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rec, err := recording.Load(f)
	if err != nil {
		return err
	}
	var first, last recording.Event
	stacks, gaps := 0, recording.Duration(0)
	for _, e := range rec.Events {
		switch e.Fact.(type) {
		case *recording.Overhead:
			if first.Fact == nil {
				first = e
			}
			last = e
		case *recording.StackAt:
			stacks++
		case *recording.Gap:
			gaps += e.Time.Sub(e.Fact.(*recording.Gap).From)
		}
	}
	if last.Time <= first.Time {
		return fmt.Errorf("%s says nothing about its overhead", file)
	}
	ran := last.Fact.(*recording.Overhead).BPF - first.Fact.(*recording.Overhead).BPF
	one.recorder.bpf = float64(ran) / float64(last.Time.Sub(first.Time))
	one.recorder.recorded = 1 - float64(gaps)/float64(last.Time.Sub(first.Time))
	one.recorder.events = float64(len(rec.Events)) / float64(one.Answered)
	one.recorder.stacks = float64(stacks) / float64(one.Answered)
	return nil
}
