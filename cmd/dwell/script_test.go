package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary act as dwell: as the command in the scripts, and as the processes that dwell starts
// from its own executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") || os.Getenv("BE_DWELL") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"dwell": main})
}

// TestScripts runs the scripts in testdata: commands that a user types, and their output.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			for name, file := range map[string]string{"BAD": "bundled/bad.txt", "FIXED": "bundled/fixed.txt", "CONVOY": "../../internal/report/testdata/convoy.txt"} {
				path, err := filepath.Abs(file)
				if err != nil {
					return err
				}
				e.Setenv(name, path)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"oneline":  oneline,
			"jsonkeys": jsonKeys,
		},
	})
}

// exits STATUS COMMAND ... runs the command and checks its exit status.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// oneline checks that the last command printed exactly one line on stderr and
// nothing on stdout.
func oneline(ts *testscript.TestScript, _ bool, _ []string) {
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is not empty: %q", out)
	}
	if text := ts.ReadFile("stderr"); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "dwell") {
		ts.Fatalf("stderr is not one line of dwell's: %q", text)
	}
}

// jsonkeys KEY ... checks that stdout is one JSON object with these keys; a key of the form a.b is inside a.
func jsonKeys(ts *testscript.TestScript, _ bool, args []string) {
	var doc map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	for _, key := range args {
		var at any = doc
		for part := range strings.SplitSeq(key, ".") {
			object, ok := at.(map[string]any)
			if at = object[part]; !ok || at == nil {
				ts.Fatalf("the JSON has no %s (or null)", key)
			}
		}
	}
}
