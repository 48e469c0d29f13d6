//go:build linux

package main

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture/target"
)

// recordingForbidden says why this machine or these rights do not allow recording;
// nil if they do.
func recordingForbidden() error {
	for _, c := range target.Doctor() {
		if c.Required && !c.OK {
			return fmt.Errorf("%s: %s (%s)", c.Name, c.Detail, c.Remedy)
		}
	}
	return nil
}
