package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/internal/truth/proc"
	"github.com/getdwell/dwell/internal/truth/rival"
)

// play plays a plan and its twin.
func (st *stage) play(ctx context.Context, p plan) (*result, error) {
	r := &result{Plan: p}
	one, err := st.calmly(ctx, &p, false)
	if err != nil {
		return nil, err
	}
	r.Faulty = *one
	if healthy(p.Fault) {
		return r, nil
	}
	if r.Twin, err = st.calmly(ctx, &p, true); err != nil {
		return nil, fmt.Errorf("the twin: %w", err)
	}
	return r, nil
}

// tries is how often a service is played at most while the machine's host takes its processors.
const tries = 3

// calmly plays a service until the host leaves it the processors.
func (st *stage) calmly(ctx context.Context, p *plan, fixed bool) (one *played, err error) {
	for range tries {
		if one, err = st.one(ctx, p, fixed); err != nil || one.Stolen < calm.Limit {
			break
		}
	}
	return one, err
}

// settle is how long a service has been asked before it is recorded.
const settle = 1500 * time.Millisecond

// one plays a service, records it under load, and asks why it is slow.
func (st *stage) one(ctx context.Context, p *plan, fixed bool) (*played, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside := p.Beside
	if p.Against != "" && !fixed {
		beside = p.Against
	}
	if err := rival.Compete(ctx, beside); err != nil {
		return nil, err
	}
	st.delay.Store(0)
	if !fixed {
		st.delay.Store(p.Cost.Microseconds())
	}
	args, err := st.program(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Fault == "delayed-ack" && !fixed {
		args = slices.DeleteFunc(args, func(a string) bool { return strings.Contains(a, "nodelay") })
	}
	service, err := proc.Start(ctx, proc.Options{Args: args, Ready: "ready",
		Env: append([]string{"PORT=" + servesAt, "UPSTREAM=" + upstream, "SECURE=" + secure, "STATSD=" + statsd, "DNS=" + resolver + ":53",
			"CHOKED=" + choked, "LATE=" + late, "DATABASE=" + database, "SINGLE=" + single, "ENTROPY=" + st.random()}, p.env(fixed)...)})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	file := filepath.Join(st.dir, "recording.dwell")
	if st.keep != "" {
		file = filepath.Join(st.keep, strings.ReplaceAll(p.name(), "/", "-")+map[bool]string{true: "-twin"}[fixed]+".dwell")
	}
	one, err := st.recorded(ctx, p, fixed, target{service.PID(), file})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, service.Tail())
	}
	said, err := st.why(ctx, file)
	if err != nil {
		return nil, err
	}
	one.Said = *said
	return one, nil
}

// target is what is recorded, and where to.
type target struct {
	pid  int
	file string
}

// recorded puts load on a service and records it.
func (st *stage) recorded(ctx context.Context, p *plan, fixed bool, of target) (*played, error) {
	opt := load.Options{URL: "http://127.0.0.1:" + servesAt + "/", Rate: p.Rate, Seed: p.Seed + 100, For: time.Duration(max(1, p.Longer)) * st.span, Close: p.Close, Conns: 64, Drain: 10 * time.Second,
		Path: func(i int) string { return fmt.Sprintf("/%s/%d", strings.ToLower(p.Noun), i) }}
	if fixed && p.Lazier > 0 {
		opt.Rate *= p.Lazier
	}
	if !p.Early {
		first := opt
		first.For = settle
		if p.Fault == "load" {
			first.Rate *= 0.4
		}
		if _, err := load.Run(ctx, first); err != nil {
			return nil, err
		}
	}
	before, err := costOf(ctx)
	if err != nil {
		return nil, err
	}
	ready := readyOf(of.pid)
	recorder, err := proc.Start(ctx, proc.Options{Ready: "all that can be seen",
		Args: []string{st.dir + "/dwell", "attach", "--pid", strconv.Itoa(of.pid), "--for", "10m", "-o", of.file}})
	if err != nil {
		return nil, err
	}
	defer recorder.Stop()
	from := calm.Now()
	sent, err := load.Run(ctx, opt)
	if err != nil {
		return nil, err
	}
	stolen := calm.Stolen(from, calm.Now())
	if err := recorder.Interrupt(time.Minute); err != nil && proc.Status(err) != found && proc.Status(err) != undecided {
		return nil, err
	}
	if sum := sent.Summary(); sum.Errors+sum.Failed > sum.Requests/50 || sum.Answered == 0 {
		return nil, fmt.Errorf("the load was not answered properly: %+v", sum)
	}
	after, err := costOf(ctx)
	if err != nil {
		return nil, err
	}
	one := &played{Clients: clientsOf(sent), Logged: after.since(before), Stolen: stolen}
	one.Ready = float64(max(0, readyOf(of.pid)-ready)) / float64(max(1, one.Clients.Requests))
	return one, nil
}

// readyOf is how long the threads of a process that there are have been ready to run without a
// processor, in ns, as the kernel counts it (proc_pid_schedstat(5)).
func readyOf(pid int) (sum int64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range tasks {
		var ran, ready int64
		text, _ := os.ReadFile(name) // of a thread that has ended nothing is counted
		if n, _ := fmt.Sscan(string(text), &ran, &ready); n == 2 {
			sum += ready
		}
	}
	return sum
}

// cost is what a service logs of its requests: in all of them, how long the fault took, or what
// stands in its place.
type cost struct{ requests, spent int64 }

func costOf(ctx context.Context) (c cost, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+servesAt+"/cost", nil)
	if err != nil {
		return c, err
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer res.Body.Close()
	if _, err := fmt.Fscan(res.Body, &c.requests, &c.spent); err != nil {
		return c, fmt.Errorf("GET /cost: %w", err)
	}
	return c, nil
}

// since is the mean of a request, in ns, since an earlier reading.
func (c cost) since(before cost) float64 {
	return float64(c.spent-before.spent) / float64(max(1, c.requests-before.requests))
}

// Exit statuses of dwell: it has findings; some hypothesis stayed undecided.
const found, undecided = 1, 3

func (st *stage) why(ctx context.Context, file string) (*answer, error) {
	cmd := exec.CommandContext(ctx, st.dir+"/dwell", "why", file, "--json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && proc.Status(err) != found && proc.Status(err) != undecided {
		return nil, fmt.Errorf("dwell why: %w\n%s", err, stderr.String())
	}
	if st.keep == "" {
		defer os.Remove(file)
	}
	said := &answer{}
	return said, json.Unmarshal(out, said)
}

// clientsOf sums up what the clients saw, from the first byte sent to the last byte read.
func clientsOf(sent *load.Result) waited {
	list := sent.Sorted((*load.Entry).Service)
	var sum, squares float64
	for _, d := range list {
		sum += float64(d)
		squares += float64(d) * float64(d)
	}
	n := float64(max(1, len(list)))
	mean := sum / n
	return waited{Requests: len(list), Mean: mean, Spread: math.Sqrt(max(0, squares/n-mean*mean)), P50: load.Quantile(list, 50), P99: load.Quantile(list, 99)}
}
