package main

import "testing"

// The mean is over all requests of all endpoints, and of the fixed variant it is also
// said what share of the bad one's it is.
func TestMeanUnder(t *testing.T) {
	mean, err := meanUnder([]byte(`{"endpoints":[{"all":{"requests":30,"under_ns":90000000}},{"all":{"requests":10,"under_ns":70000000}}]}`))
	if err != nil || mean != 4 {
		t.Errorf("%v ms, want 4 (%v)", mean, err)
	}
	fixed := map[string]float64{"ms in a request under F": 1}
	against(map[string]float64{"ms in a request under F": mean, "ms in a request under G": 1}, fixed)
	if got := fixed["share of the bad variant's ms in a request under F"]; got != 0.25 {
		t.Errorf("share %v, want 0.25", got)
	}
	if got, there := fixed["share of the bad variant's ms in a request under G"]; got != 0 || !there {
		t.Errorf("what is no longer seen has a share of %v", got)
	}
}
