//go:build linux

package main

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture/target"
)

// machineForbids says what this machine or these rights lack, before any program is tried.
func machineForbids() error {
	for _, c := range target.Doctor() {
		if c.Required && !c.OK {
			return fmt.Errorf("%s: %s (%s)", c.Name, c.Detail, c.Remedy)
		}
	}
	return nil
}
