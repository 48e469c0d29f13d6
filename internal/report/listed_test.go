package report

import (
	"slices"
	"testing"
)

// If there are more endpoints than room, the named ones are those with the most requests, the one whose time is shown
// (it takes the most time in total, or the first finding is about it) and the one with the largest p99.
func TestListedEndpoints(t *testing.T) {
	endpoints := []Endpoint{
		{Name: "a", P99: 10, ids: requestSets{total: 900}},
		{Name: "b", P99: 20, ids: requestSets{total: 800}},
		{Name: "c", P99: 30, ids: requestSets{total: 700}},
		{Name: "d", P99: 40, ids: requestSets{total: 600}},
		{Name: "e", P99: 50, ids: requestSets{total: 950}},
		{Name: "f", P99: 900, ids: requestSets{total: 100}},
	}
	for _, c := range []struct {
		what    string
		finding string
		of      []Endpoint
		want    string
	}{
		{"e takes the most time, f is the slowest", "", endpoints, "abef"},
		{"a finding about d", "d", endpoints, "abdf"},
		{"a finding about f", "f", endpoints, "abcf"},
		{"room for all", "", endpoints[:4], "abcd"},
		{"one alone", "", endpoints[5:], "f"},
	} {
		r := &Report{Endpoints: slices.Clone(c.of)}
		if c.finding != "" {
			r.Findings = []Finding{{Endpoint: c.finding}}
		}
		got := ""
		for _, e := range listed(r) {
			got += e.Name
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
