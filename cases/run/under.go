package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// under measures, for each pair of arguments "--under NAME" that the pair looks at, the
// mean time that requests spent beneath it; ms by what the key calls them.
func (sc *scene) under(ctx context.Context, file string) (map[string]float64, error) {
	all := map[string]float64{}
	for _, args := range sc.pair.Look {
		at := slices.Index(args, "--under")
		if at < 0 || at+1 == len(args) {
			continue
		}
		out, err := exec.CommandContext(ctx, dwell, "show", file, "--under", args[at+1], "--json").Output()
		if unseen(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("dwell show --under %s --json: %w", args[at+1], err)
		}
		mean, err := meanUnder(out)
		if err != nil {
			return nil, fmt.Errorf("dwell show --under %s --json: %w", args[at+1], err)
		}
		all["ms in a request under "+strings.ReplaceAll(args[at+1], "#", ".")] = mean // # begins a comment
	}
	return all, nil
}

// unseen reports whether dwell says that no stack holds the function: that is a result,
// any other failure is none.
func unseen(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && strings.Contains(string(exit.Stderr), "was seen in a stack")
}

// against adds to the numbers of the fixed variant what share each is of the bad one's.
func against(bad, fixed map[string]float64) {
	for what, was := range bad {
		if was > 0 {
			fixed["share of the bad variant's "+what] = fixed[what] / was
		}
	}
}

// meanUnder reads what dwell show --under prints as JSON.
func meanUnder(out []byte) (float64, error) {
	var said struct {
		Endpoints []struct {
			All struct {
				Requests float64 `json:"requests"`
				Under    float64 `json:"under_ns"`
			} `json:"all"`
		} `json:"endpoints"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return 0, err
	}
	var requests, sum float64
	for _, e := range said.Endpoints {
		requests += e.All.Requests
		sum += e.All.Under
	}
	if requests == 0 {
		return 0, nil
	}
	return sum / requests / 1e6, nil
}
