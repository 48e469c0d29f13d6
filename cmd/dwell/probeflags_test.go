package main

import (
	"testing"

	"github.com/getdwell/dwell/internal/capture"
)

func TestGoProbesMayHaveAShare(t *testing.T) {
	for value, want := range map[string]capture.GoProbes{"on": {}, "off": {Off: true}, "20%": {Share: 0.2}, "0.5%": {Share: 0.005}} {
		if got, err := goProbes(value); err != nil || got != want {
			t.Errorf("%s: %+v, %v", value, got, err)
		}
	}
	for _, value := range []string{"", "yes", "20", "0%", "-3%", "101%", "NaN%"} {
		if _, err := goProbes(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}
