package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag: which flag may be meant, or what values it takes.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := flagsLike(c, unknown.GetSpecifiedName()); len(near) > 0 {
			return fmt.Errorf("%s: there is no flag --%s; did you mean --%s?", c.CommandPath(), unknown.GetSpecifiedName(), strings.Join(near, " or --"))
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		if wants := map[string]string{"int": "a whole number", "duration": "a time such as 30s"}[f.Value.Type()]; wants != "" {
			return fmt.Errorf("%s: --%s %s: want %s", c.CommandPath(), f.Name, invalid.GetValue(), wants)
		}
	}
	return fmt.Errorf("%s: %w (see %s --help)", c.CommandPath(), err, c.CommandPath())
}

// flagsLike returns the flags of a command with a similar name, or with a type of that name, such as --for for
// --duration.
func flagsLike(c *cobra.Command, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, SuggestFor: []string{f.Value.Type()}, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	return names.SuggestionsFor(name)
}
