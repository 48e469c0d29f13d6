//go:build !linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path"
)

// sourceTree is a place for source code: a given directory, or nil for this machine.
type sourceTree struct {
	root *os.Root
}

// openTrees opens the places for source code. They are read with the rights of the caller: without recording, dwell
// needs no others.
func openTrees(root string, _ int, _ invoker) (trees []*sourceTree, err error) {
	if root != "" {
		named, err := os.OpenRoot(root)
		if err != nil {
			return nil, fmt.Errorf("--source-root %s: no such directory", root)
		}
		trees = append(trees, &sourceTree{named})
	}
	return append(trees, &sourceTree{}), nil
}

// names returns the paths that a file may have in this place.
func (t *sourceTree) names(file string) []string {
	switch {
	case t.root != nil:
		return belowRoot(file)
	case path.IsAbs(file):
		return []string{file}
	}
	return nil // the directory it is relative to is not known
}

// open opens a plain file.
func (t *sourceTree) open(name string) (*os.File, error) {
	stat, open := os.Stat, os.Open
	if t.root != nil {
		stat, open = t.root.Stat, t.root.Open
	}
	if info, err := stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, errors.New("not a plain file, or too large")
	}
	return open(name)
}

func (t *sourceTree) close() {
	if t.root != nil {
		t.root.Close()
	}
}
