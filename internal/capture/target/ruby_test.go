package target

import (
	"os/exec"
	"strings"
	"testing"
)

// What is read of a running Ruby agrees with what it prints itself.
func TestRubyIsLookedAt(t *testing.T) {
	cmd := exec.Command("ruby", "-e", "puts RUBY_VERSION; STDOUT.flush; STDIN.read")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("there is no ruby here: ", err)
	}
	defer cmd.Wait()
	defer in.Close()
	said := make([]byte, 16)
	n, err := out.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	if got := lookAtRuby(cmd.Process.Pid); got.version != strings.TrimSpace(string(said[:n])) {
		t.Errorf("it is taken for %+v, it says it is %s", got, said[:n])
	}
}

func TestWhatRubyGets(t *testing.T) {
	for want, r := range map[string]rubyBuild{
		"Ruby 3.1.2 (stripped): methods with class, file and line":                                                      {"3.1.2", true, true},
		"Ruby 3.4.1: methods with class, file and line":                                                                 {"3.4.1", false, false},
		"Ruby 3.2.3: methods with file and line, without their classes":                                                 {"3.2.3", false, true},
		"Ruby 3.3.8 is stripped and hides where it keeps what a thread runs: only the frames of the interpreter itself": {"3.3.8", true, false},
	} {
		if r.String() != want {
			t.Errorf("%+v gets %q, want %q", r, r, want)
		}
	}
}
