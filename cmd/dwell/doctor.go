//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"slices"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

func doctorCommand(w world, g *globals) *cobra.Command {
	var asJSON, whyNot, stay bool
	c := &cobra.Command{
		Use:   "doctor [--json]",
		Short: "Say what this kernel and these privileges allow, and what to do about the rest",
		Long: `Examine this machine, then load each group of programs that recording uses, and attach
it for a moment. If the kernel refuses a group, a recording lacks only what that group
sees, and doctor says what that is. The exit status is 2 if nothing can be recorded.`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			checks, refused := examine(w)
			if err := printChecks(w.out, checks, asJSON, g.useColor(w.out, w.getenv)); err != nil {
				return err
			}
			if whyNot {
				printRefusals(w.err, refused)
			}
			if !canRecord(checks) {
				return exitError{exitCannot}
			}
			if stay {
				untilEnded(c.Context())
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&whyNot, "why-not", false, "print what the kernel's verifier said about refused programs, on standard error")
	c.Flags().BoolVar(&stay, "stay", false, "if this machine can record, keep running until told to end: for a container in which others start dwell")
	return c
}

// untilEnded waits for a signal that asks dwell to end, or for the end of ctx.
func untilEnded(ctx context.Context) {
	ctx, over := signal.NotifyContext(ctx, endings()...)
	defer over()
	<-ctx.Done()
}

// refusedProgram is a program that the kernel refuses, with everything it reported.
type refusedProgram struct {
	why error
	log []string
}

// examine checks the machine, and if that passes, also what only a try can show.
func examine(w world) ([]target.Check, []refusedProgram) {
	checks := target.Doctor()
	if !canRecord(checks) {
		return checks, nil
	}
	tried, refused := tryPrograms(refusedOnDemand(w))
	return append(checks, tried...), refused
}

func printRefusals(out io.Writer, refused []refusedProgram) {
	for _, r := range refused {
		fmt.Fprintf(out, "\n%s\n", recording.Printable(r.why.Error()))
		for _, line := range r.log {
			fmt.Fprintln(out, "  "+recording.Printable(line))
		}
	}
}

func canRecord(checks []target.Check) bool {
	for _, c := range checks {
		if c.Required && !c.OK {
			return false
		}
	}
	return true
}

// doctorJSON is the output of doctor --json.
type doctorJSON struct {
	Version   int         `json:"version"`
	CanRecord bool        `json:"can_record"`
	Checks    []checkJSON `json:"checks"`
}

type checkJSON struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"`
	Detail   string `json:"detail"`
	Remedy   string `json:"remedy,omitempty"`
}

// printable returns checks that are safe to show: they may contain names of other users' files and programs.
func printable(checks []target.Check) []target.Check {
	shown := slices.Clone(checks)
	for i := range shown {
		for _, text := range []*string{&shown[i].Name, &shown[i].Detail, &shown[i].Remedy} {
			*text = recording.Printable(*text)
		}
	}
	return shown
}

func printChecks(out io.Writer, checks []target.Check, asJSON, color bool) error {
	checks = printable(checks)
	if asJSON {
		doc := doctorJSON{Version: 1, CanRecord: canRecord(checks), Checks: []checkJSON{}}
		for _, c := range checks {
			doc.Checks = append(doc.Checks, checkJSON(c))
		}
		return json.NewEncoder(out).Encode(doc)
	}
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		if _, err := fmt.Fprintf(out, "%s  %-*s  %s\n", mark(c, color), width, c.Name, c.Detail); err != nil {
			return err
		}
		if !c.OK && c.Remedy != "" {
			fmt.Fprintf(out, "%*s-> %s\n", len("missing")+2+width+2, "", c.Remedy)
		}
	}
	verdict := "dwell can record on this machine."
	if !canRecord(checks) {
		verdict = "dwell cannot record here until what is missing above is put right. It can still read recordings: dwell why REC."
	}
	_, err := fmt.Fprintf(out, "\n%s\n", verdict)
	return err
}

// mark is the first column: "missing" for required checks that fail, another word for optional ones.
func mark(c target.Check, color bool) string {
	text, code := "ok     ", "32"
	switch {
	case !c.OK && c.Required:
		text, code = "missing", "31"
	case !c.OK:
		text, code = "without", "33"
	}
	if color {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}
