//go:build linux && !(amd64 || arm64)

package main

import "github.com/getdwell/dwell/internal/capture/target"

// tryPrograms has none for this platform.
func tryPrograms([]string) ([]target.Check, []refusedProgram) { return nil, nil }
