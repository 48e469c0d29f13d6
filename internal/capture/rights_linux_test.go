package capture

import (
	"os"
	"strings"
	"testing"

	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// The DaemonSet grants what a running session keeps, but for what ends the programs that dwell run starts.
func TestDaemonSetGrantsWhatASessionKeeps(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/dwell.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range needed() {
		name := strings.ToUpper(strings.TrimPrefix(c.String(), "cap_"))
		if granted := strings.Contains(string(text), "- "+name+" #"); granted != (c != cap.KILL) {
			t.Errorf("%s is granted: %v", name, granted)
		}
	}
}
