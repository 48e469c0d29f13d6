package hypotheses

import (
	"strings"
	"testing"
)

// TestTelemetryFix: batches of datagrams do not help against waits for a log file, or for a collector's answer.
func TestTelemetryFix(t *testing.T) {
	for want, by := range map[string]map[sendKind]Duration{
		"write the log":     {sendCPU: 1 * milli, sendFile: 3 * milli},
		"metrics in memory": {sendCPU: 3 * milli, sendFile: 1 * milli},
		"for the collector": {sendCPU: 1 * milli, sendCall: 3 * milli},
	} {
		var e exported
		for kind, d := range by {
			e.by[kind] = d
		}
		if fix := e.fix(&telemetry{}, 4*milli); !strings.Contains(fix, want) {
			t.Errorf("%v is to be mended thus: %s", by, fix)
		}
	}
}
