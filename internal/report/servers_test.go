package report

import "testing"

func TestWhatAReplaySaysIsToldIfItIsAGain(t *testing.T) {
	for _, x := range []struct {
		was, is, promised Duration
		want              string
	}{
		{62_700_000, 15_100_000, 9_000_000, "; with half of its work, p99 would be 15.1 ms"},
		{62_700_000, 74_700_000, 9_000_000, ""},
		{62_700_000, 15_100_000, 20_000_000, ""},
	} {
		if got := whatIfWords([]WhatIf{{Words: "half of its work", P99: &Replayed{Was: x.was, Is: x.is}}}, x.promised); got != x.want {
			t.Errorf("%v -> %v: %q, want %q", x.was, x.is, got, x.want)
		}
	}
}
