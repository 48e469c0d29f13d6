package expect

import (
	"fmt"
	"strings"
)

// Client is what the load generator measured; ns, and answers per second.
type Client struct {
	P50, P99 int64
	Rate     float64
}

// Measures are the numbers of a scenario by name.
func Measures(d *Diagnosis, c Client, measured bool) map[string]float64 {
	all := map[string]float64{
		"requests":                  float64(d.Requests.Count),
		"calls":                     0,
		"share of calls associated": d.Requests.Associated,
		"share of time unaccounted": d.Requests.Unaccounted,
		"events lost":               float64(d.Recording.Lost),
		"dwell p50 ms":              ms(d.Requests.P50),
		"dwell p99 ms":              ms(d.Requests.P99),
	}
	for _, calls := range d.Calls {
		all["calls"] += float64(calls.Count)
	}
	if measured {
		all["client p50 ms"], all["client p99 ms"], all["client rate"] = ms(c.P50), ms(c.P99), c.Rate
	}
	return all
}

func (e Expectation) measured(numbers map[string]float64) (seen, problem string) {
	var said []string
	for _, c := range e.Conditions {
		value, known := numbers[c.What]
		one := fmt.Sprintf("%s = %.4g", c.What, value)
		if !known {
			return "", fmt.Sprintf("%q was not measured", c.What)
		}
		if !c.Holds(value) {
			return "", fmt.Sprintf("%s, expected %s %v", one, c.Op, c.Than)
		}
		said = append(said, one)
	}
	return strings.Join(said, ", "), ""
}
