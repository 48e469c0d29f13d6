package statsd

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The rule finds what uses a client past the wrapper, and nothing else; the case's own
// code keeps it.
func TestLint(t *testing.T) {
	if _, err := exec.LookPath("rubocop"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("rubocop is not installed")
		}
		t.Skip("rubocop is not installed")
	}
	for _, c := range []struct {
		files []string
		want  []string // places, in order
	}{
		{files: []string{"lint/good.rb", "service.rb", "caches.rb", "metrics.rb"}},
		{files: []string{"lint/bad.rb"}, want: []string{"bad.rb:6:5", "bad.rb:7:5", "bad.rb:8:5", "bad.rb:9:5"}},
	} {
		cmd := exec.Command("rubocop", append([]string{"-c", "lint/rubocop.yml", "--format", "emacs", "--cache", "false"}, c.files...)...)
		out, err := cmd.CombinedOutput()
		if failed := err != nil; failed != (c.want != nil) {
			t.Errorf("rubocop %v: %v\n%s", c.files, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if c.want == nil {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Fatalf("%d offenses, want %d\n%s", len(lines), len(c.want), out)
		}
		for i, want := range c.want {
			if !strings.Contains(lines[i], want+": ") || !strings.Contains(lines[i], "Metrics/NoDirectStatsd") {
				t.Errorf("said %q, want NoDirectStatsd at %s", lines[i], want)
			}
		}
	}
}
