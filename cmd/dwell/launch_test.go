package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func environment(pairs ...string) func(string) string {
	return func(key string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, key+"="); ok {
				return value
			}
		}
		return ""
	}
}

// runToEnd launches a shell script, lets it run, and returns what it printed.
func runToEnd(t *testing.T, script string, env ...string) (*launched, string) {
	t.Helper()
	var out bytes.Buffer
	service, err := launch([]string{"sh", "-c", script}, world{out: &out, err: &out, getenv: environment(env...)})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.start(); err != nil {
		t.Fatal(err)
	}
	<-service.done
	return service, strings.TrimSpace(out.String())
}

func TestTheServiceIsTheProcessThatWaited(t *testing.T) {
	service, out := runToEnd(t, "echo $$")
	if want := fmt.Sprint(service.pid()); out != want {
		t.Errorf("the service ran as pid %s, the process that waited was %s", out, want)
	}
	if service.ended() != "exit status 0" {
		t.Errorf("it ended with %q", service.ended())
	}
}

func TestTheServiceDoesNotStartWithoutBeingTold(t *testing.T) {
	var out bytes.Buffer
	service, err := launch([]string{"echo", "ran"}, world{out: &out, err: &out, getenv: environment()})
	if err != nil {
		t.Fatal(err)
	}
	service.abandon()
	if out.Len() > 0 {
		t.Errorf("it printed %q", out.String())
	}
}

// A process must see the same files and signals as without dwell.
func TestTheServiceInheritsNothingOfDwell(t *testing.T) {
	const look = "ls /proc/self/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status; ulimit -n"
	want, err := exec.Command("sh", "-c", look).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if _, got := runToEnd(t, look); got != strings.TrimSpace(string(want)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheExitStatusIsTold(t *testing.T) {
	service, _ := runToEnd(t, "exit 3")
	if got := service.ended(); got != "exit status 3" {
		t.Error(got)
	}
	service, _ = runToEnd(t, "kill -9 $$")
	if got := service.ended(); got != "signal: killed" {
		t.Error(got)
	}
}

func TestUnderSudoTheServiceRunsAsItsCaller(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	_, out := runToEnd(t, "id -u; id -g; echo $USER", "SUDO_UID=65534", "SUDO_GID=65534", "SUDO_USER=nobody")
	if out != "65534\n65534\nnobody" {
		t.Errorf("it ran as %q", out)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	_, err := launch([]string{"no-such-program"}, world{getenv: environment("SUDO_UID=1000")})
	if err == nil || !strings.Contains(err.Error(), "cannot start no-such-program") || !strings.Contains(err.Error(), `sudo env PATH="$PATH"`) {
		t.Error(err)
	}
}
