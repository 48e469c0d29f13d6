//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/capture/target"
)

// A check may name another user's file or program. A terminal must not receive control sequences from these names.
func TestDoctorShowsNoCommand(t *testing.T) {
	checks := []target.Check{{Name: "ruby" + commands, Detail: "/srv/" + commands, Remedy: "see " + commands}}
	for _, asJSON := range []bool{false, true} {
		var got strings.Builder
		if err := printChecks(&got, checks, asJSON, false); err != nil {
			t.Fatal(err)
		}
		shownPlainly(t, []string{"doctor"}, got.String())
		if asJSON && !json.Valid([]byte(got.String())) {
			t.Errorf("no JSON: %s", got.String())
		}
	}
	var got strings.Builder
	printRefusals(&got, []refusedProgram{{why: errors.New("refused" + commands), log: []string{commands}}})
	shownPlainly(t, []string{"doctor", "--why-not"}, got.String())
}
