package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/spf13/cobra"
)

// judging holds the bounds for verdicts, and how much of them is printed.
type judging struct {
	worth string
	slos  []string
	all   bool
}

// addFlags adds the flags that all diagnosing commands share.
func (j *judging) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&j.worth, "worth", "5%", "smallest saving worth reporting as a finding: a share of the mean, of p50 or of p99")
	j.addSLO(c)
	c.Flags().BoolVar(&j.all, "all", false, "print everything: all leads, what rules each mechanism out, what was not seen and why")
}

// addSLO adds the flag for promised latencies.
func (j *judging) addSLO(c *cobra.Command) {
	c.Flags().StringArrayVar(&j.slos, "slo", nil, "a promised latency, such as 'GET /price p99<20ms per 1m': says whether it was kept, and what would keep it (repeatable)")
}

// options returns the options of a diagnosis of an endpoint; "" is all.
func (j judging) options(endpoint string) (diagnosis.Options, error) {
	o := diagnosis.Options{Endpoint: endpoint}
	for _, text := range j.slos {
		s, err := diagnosis.ParseSLO(text)
		if err != nil {
			return o, fmt.Errorf("--slo %q: %w", text, err)
		}
		o.SLOs = append(o.SLOs, s)
	}
	if j.worth == "" {
		return o, nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(j.worth), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f > 0 && f < 1) {
		return o, fmt.Errorf("--worth %s: want a share between nothing and all, such as 5%% or 0.05", j.worth)
	}
	o.Worth = diagnosis.Share(f * float64(diagnosis.Whole))
	return o, nil
}
