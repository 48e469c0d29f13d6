//go:build linux && (amd64 || arm64)

package capture

import (
	"os"
	"strings"
	"testing"
)

// The DaemonSet grants the rights that a running session keeps.
func TestDaemonSetGrantsWhatASessionKeeps(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/dwell.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range needed() {
		name := strings.ToUpper(strings.TrimPrefix(c.String(), "cap_"))
		if granted := strings.Contains(string(text), "- "+name+" #"); !granted {
			t.Errorf("%s is not granted", name)
		}
	}
}
