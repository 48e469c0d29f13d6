package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Result is the log of a run.
type Result struct {
	Log        []Entry // by ID
	Start, End int64   // CLOCK_MONOTONIC in ns
	For        time.Duration
}

func newResult(log []Entry, start, end int64, span time.Duration) *Result {
	slices.SortFunc(log, func(a, b Entry) int { return a.ID - b.ID })
	return &Result{Log: log, Start: start, End: end, For: span}
}

// Summary is the result in a few numbers; durations in ns.
type Summary struct {
	Requests  int     `json:"requests"` // sent
	Answered  int     `json:"answered"` // with any status
	Errors    int     `json:"errors"`   // no whole answer
	Failed    int     `json:"failed"`   // answered with a status of 400 or more
	Rate      float64 `json:"rate"`     // answers per second until the last one
	P50       int64   `json:"p50_ns"`   // from the intended time to the last byte
	P90       int64   `json:"p90_ns"`
	P99       int64   `json:"p99_ns"`
	Max       int64   `json:"max_ns"`
	Service50 int64   `json:"service_p50_ns"` // from the first byte sent to the last byte
	Service99 int64   `json:"service_p99_ns"`
	FirstErr  string  `json:"first_error,omitempty"`
}

// Summary computes it over the answered requests.
func (r *Result) Summary() Summary {
	s := Summary{Requests: len(r.Log)}
	last := r.Start
	for i := range r.Log {
		e := &r.Log[i]
		switch {
		case e.Err != "":
			s.Errors++
			if s.FirstErr == "" {
				s.FirstErr = e.Err
			}
			continue
		case e.Status >= 400:
			s.Failed++
		}
		s.Answered++
		last = max(last, e.Done)
	}
	if span := last - r.Start; span > 0 {
		s.Rate = float64(s.Answered) / (float64(span) / 1e9)
	}
	latency, service := r.Sorted((*Entry).Latency), r.Sorted((*Entry).Service)
	s.P50, s.P90, s.P99, s.Max = Quantile(latency, 50), Quantile(latency, 90), Quantile(latency, 99), Quantile(latency, 100)
	s.Service50, s.Service99 = Quantile(service, 50), Quantile(service, 99)
	return s
}

// Sorted returns a measure of every answered request in ascending order.
func (r *Result) Sorted(measure func(*Entry) int64) []int64 {
	var all []int64
	for i := range r.Log {
		if r.Log[i].Err == "" {
			all = append(all, measure(&r.Log[i]))
		}
	}
	slices.Sort(all)
	return all
}

// Quantile returns the smallest of the sorted values that at least percent of them do
// not exceed; 0 if there are none.
func Quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// WriteLog writes one JSON object a line.
func (r *Result) WriteLog(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for i := range r.Log {
		if err := enc.Encode(&r.Log[i]); err != nil {
			return fmt.Errorf("writing the log of requests: %w", err)
		}
	}
	return out.Flush()
}

// ReadLog reads what WriteLog wrote.
func ReadLog(r io.Reader) ([]Entry, error) {
	var log []Entry
	dec := json.NewDecoder(r)
	for dec.More() {
		var e Entry
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("reading a log of requests: %w", err)
		}
		log = append(log, e)
	}
	return log, nil
}
