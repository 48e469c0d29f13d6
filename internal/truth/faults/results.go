package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// item is a hypothesis of which something is said, as dwell why --json tells it; ns.
type item struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Impact struct {
		Mean       int64 `json:"mean_saving_ns"`
		Low        int64 `json:"mean_low_ns"`
		High       int64 `json:"mean_high_ns"`
		LowerBound bool  `json:"lower_bound,omitempty"`
	} `json:"impact,omitzero"`
}

// answer is what dwell says of a service.
type answer struct {
	Findings  []item `json:"findings"`
	Leads     []item `json:"leads"`
	Minor     []item `json:"minor"`
	Refuted   []item `json:"refuted"`
	Undecided []item `json:"undecided"`
}

// waited is what the clients of a service waited, of which dwell knows nothing; ns.
type waited struct {
	Requests int
	Mean     float64
	Spread   float64 // standard deviation
	P50, P99 int64
}

// played is one service, played and recorded once.
type played struct {
	Said    answer
	Clients waited
	Logged  float64 // what the service logs of a request: how long the fault took, or what stands in its place; ns
	Ready   float64 // by the kernel's count, how long its threads were ready to run without a processor, by request; ns
	Stolen  float64 // share of the processors' time that the host gave to others
}

// result is a fault and its twin.
type result struct {
	Plan   plan
	Faulty played
	Twin   *played // nil: there is none, the service is healthy
}

// readResults reads results by name; a later one counts. No file is no results.
func readResults(name string) (map[string]*result, error) {
	all := map[string]*result{}
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var r result
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w (without -resume it is begun anew)", name, err)
		}
		all[r.Plan.name()] = &r
	}
}

func appendResult(name string, r *result) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r), f.Close())
}
