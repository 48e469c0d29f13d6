package main

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/recording"
)

// Recordings of the two variants in text form, cut from a live run:
//
//	dwell demo --for 3s -o DIR
//	dwell facts DIR/bad.dwell --first 1895ms >bundled/bad.txt
//
// without the path of the source tree in the file names.
//
//go:embed bundled/bad.txt bundled/fixed.txt
var bundledFiles embed.FS

// bundled returns the recording that stands in for a live one.
func bundled(mode demo.Mode) (*recording.Recording, error) {
	data, err := bundledFiles.ReadFile("bundled/" + string(mode) + ".txt")
	if err != nil {
		return nil, fmt.Errorf("dwell demo: %w", err)
	}
	rec, err := recording.Load(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("dwell demo: the bundled recording: %w", err)
	}
	return rec, nil
}
