//go:build !linux

package main

import (
	"os"

	"github.com/getdwell/dwell/internal/capture"
)

// place is the destination of a recording; recordings are not made here.
type place struct{}

func makeFile(string, invoker) (*place, *os.File, error) { return nil, nil, capture.ErrUnsupported }
func (*place) publish() error                            { return capture.ErrUnsupported }
func (*place) replaces() bool                            { return false }
func (*place) open() []string                            { return nil }
func (*place) settle()                                   {}
func (*place) withdraw(*os.File)                         {}

// makeDirectory makes a directory for recordings, unless it exists.
func makeDirectory(path string, _ invoker) error { return os.MkdirAll(path, 0o755) }
