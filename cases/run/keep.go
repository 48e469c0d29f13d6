package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/getdwell/dwell/recording"
)

// A committed recording is short: enough requests to decide, small enough to read.
const (
	keptSeconds = 2
	keptBytes   = 2 << 20
	settle      = 2 * time.Second
)

// keep plays both variants briefly, and writes the recordings in text form
// beside the case.
func (sc *scene) keep(ctx context.Context) error {
	if sc.pair.Keep < 0 {
		return nil
	}
	kept := *sc.pair
	kept.ServiceEnv = append(append([]string{}, kept.ServiceEnv...), kept.KeepEnv...)
	sc = &scene{stage: sc.stage, pair: &kept, emulator: sc.emulator}
	for _, variant := range []string{"bad", "fixed"} {
		at, name := variant+"/recording", "recording-"+variant+".txt"
		if sc.pair.Name != onePair {
			at, name = variant+"/"+sc.pair.Name+"/recording", "recording-"+sc.pair.Name+"-"+variant+".txt"
		}
		t := take{scenario: at, variant: variant, rate: sc.pair.Rate, seconds: sc.pair.Keep, settle: settle}
		if sc.pair.FromStart {
			t.settle = 0 // the beginning is what is to be seen
		}
		p, err := sc.play(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		name = filepath.Join(sc.Dir, name)
		size, err := convert(p.File, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sc.out, "kept %s: %d requests, %d KB\n", name, p.Client.Answered, size/1024)
	}
	return nil
}

// convert writes a recording in its text form and returns its size in bytes.
func convert(from, to string) (int, error) {
	file, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	rec, err := recording.Load(file)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", from, err)
	}
	var text bytes.Buffer
	if err := recording.FormatText(&text, rec); err != nil {
		return 0, err
	}
	if text.Len() > keptBytes {
		return 0, fmt.Errorf("%s would have %d bytes, more than %d (record for a shorter time)", to, text.Len(), keptBytes)
	}
	return text.Len(), os.WriteFile(to, text.Bytes(), 0o644)
}
