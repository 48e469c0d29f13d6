//go:build linux && (amd64 || arm64)

package capture

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestStacksAreDeclaredAheadOfTheirUse(t *testing.T) {
	const s = recording.Time(1e9)
	for _, test := range []struct {
		name                       string
		begun, drained, from, want recording.Time
	}{
		{"what came in since the ring was emptied", 100 * s, 200 * s, 200 * s, 195 * s},
		{"after the recorder was stopped for a while", 100 * s, 200 * s, 170 * s, 165 * s},
		{"never before the recording", 100 * s, 102 * s, 102 * s, 100 * s},
		{"before the ring was emptied for the first time", 100 * s, recording.NoTime, 100 * s, 100 * s},
	} {
		session := Session{begun: test.begun, drained: test.drained}
		if got := session.declaring(test.from); got != test.want {
			t.Errorf("%s: declared at %d, want %d", test.name, got, test.want)
		}
	}
}
