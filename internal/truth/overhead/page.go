package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
)

// row compares rounds without dwell and rounds with it.
type row struct {
	name          string
	without, with []sample
	own           bool // its rounds with dwell are in no row before it
}

// quantity is one column of the table.
type quantity struct {
	name  string
	value func(sample) float64
}

func quantities() []quantity {
	return []quantity{
		{"throughput", func(s sample) float64 { return s.Rate }},
		{"p50", func(s sample) float64 { return float64(s.P50) }},
		{"p99", func(s sample) float64 { return float64(s.P99) }},
		{"server CPU a request", func(s sample) float64 { return s.serverCPU }},
		{"machine CPU a request", func(s sample) float64 { return s.machineCPU }},
	}
}

// spread is the middle and the ends of some values, their mean, and how far off that is
// likely to be: its standard error.
type spread struct{ low, middle, high, mean, off float64 }

func spreadOf(values []float64) spread {
	slices.Sort(values)
	n := float64(len(values))
	s := spread{low: values[0], middle: values[len(values)/2], high: values[len(values)-1]}
	for _, v := range values {
		s.mean += v / n
	}
	for _, v := range values {
		s.off += (v - s.mean) * (v - s.mean) / n
	}
	s.off = math.Sqrt(s.off / max(1, n-1))
	return s
}

func of(samples []sample, value func(sample) float64) spread {
	var all []float64
	for _, s := range samples {
		all = append(all, value(s))
	}
	return spreadOf(all)
}

// ratio compares each round with dwell with the round before it, without.
func (r row) ratio(q quantity) spread {
	var all []float64
	for i := range r.with {
		all = append(all, q.value(r.with[i])/q.value(r.without[i]))
	}
	return spreadOf(all)
}

func (r row) recorder() (user, bpf spread, peak int64) {
	user = of(r.with, func(s sample) float64 { return s.recorder.user })
	bpf = of(r.with, func(s sample) float64 { return s.recorder.bpf })
	for _, s := range r.with {
		peak = max(peak, s.recorder.peak)
	}
	return user, bpf, peak
}

func (r row) summary() string {
	text := r.name + ":"
	for _, q := range quantities() {
		text += fmt.Sprintf(" %s x%.3f,", q.name, r.ratio(q).middle)
	}
	user, bpf, peak := r.recorder()
	mean := r.ratio(quantities()[0])
	text += fmt.Sprintf(" mean throughput x%.3f +- %.3f,", mean.mean, mean.off)
	return text + fmt.Sprintf(" recorder %.1f%% + %.1f%% of a core, %d MB", 100*user.middle, 100*bpf.middle, peak>>20)
}

// page is what docs/overhead.md has of it.
func page(rows []row, opt options) string {
	var b strings.Builder
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(&b, `Measured by `+"`make bench-overhead`"+`: %d rounds without dwell and %d with it, alternating, %v
of load each, twice that at saturation, on %d CPUs, Linux %s, %s. The server has CPU 0 to itself; what it
calls and the load generator share CPU 1; the recorder runs where the scheduler puts it.

Ratios are with dwell / without, each round against the one before it: the median, and
the lowest and highest in brackets. "Two rounds without dwell" are such ratios of rounds that
are alike: what differs there is the machine's own noise. CPU a request is in user space and the kernel,
including what dwell's programs cost there: "server" on the server's own threads,
"machine" everywhere, the load generator and the recorder included.

The last column is the mean of the ratios of throughput, with its standard error.

| | throughput | p50 | p99 | server CPU a request | machine CPU a request | throughput, mean |
|---|---|---|---|---|---|---|
`, opt.rounds, opt.rounds, opt.span, runtime.NumCPU(), strings.TrimSpace(string(release)), runtime.Version())
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, q := range quantities() {
			s := r.ratio(q)
			fmt.Fprintf(&b, " %.3f (%.3f-%.3f) |", s.middle, s.low, s.high)
		}
		s := r.ratio(quantities()[0])
		fmt.Fprintf(&b, " %.3f ± %.3f |\n", s.mean, s.off)
	}
	b.WriteString(`
Absolute, median of the rounds, without -> with dwell:

| | requests/s | p50 us | p99 us | recorder, share of a core | its programs in the kernel | of the time recorded | memory |
|---|---|---|---|---|---|---|---|
`)
	for _, r := range rows {
		user, bpf, peak := r.recorder()
		if peak == 0 {
			continue // no recorder
		}
		q := quantities()
		fmt.Fprintf(&b, "| %s | %.0f -> %.0f | %.0f -> %.0f | %.0f -> %.0f | %.1f %% | %.1f %% | %.0f %% | %d MB |\n", r.name,
			of(r.without, q[0].value).middle, of(r.with, q[0].value).middle,
			of(r.without, q[1].value).middle/1e3, of(r.with, q[1].value).middle/1e3,
			of(r.without, q[2].value).middle/1e3, of(r.with, q[2].value).middle/1e3,
			100*user.middle, 100*bpf.middle, 100*of(r.with, func(s sample) float64 { return s.recorder.recorded }).middle, peak>>20)
	}
	b.WriteString(goals)
	b.WriteString(costs(rows))
	return b.String()
}

const goals = `
The goals: at least 0.99 of the throughput at 2,000 requests/s and 0.95 at saturation; the
recorder under 10 % of a core and 150 MB at 2,000 requests/s.
`
