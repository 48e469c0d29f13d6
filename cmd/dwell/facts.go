package main

import (
	"fmt"
	"io"
	"time"

	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

func factsCommand(w world) *cobra.Command {
	var first time.Duration
	c := &cobra.Command{
		Use:   "facts REC [--first 3s]",
		Short: "Print a recording in its text form",
		Long: `Print a recording in its text form, one fact a line. Every command that takes a
recording also takes this form. It holds nothing that REC does not.`,
		Args: exactly("REC"),
		RunE: func(_ *cobra.Command, args []string) error {
			rec, err := readRecording("facts", args[0])
			if err != nil {
				return err
			}
			if first < 0 {
				return fmt.Errorf("dwell facts: --first %s: a duration cannot be negative", first)
			}
			if first > 0 {
				rec = cutRecording(rec, recording.Duration(first))
			}
			return printFacts(w.out, rec)
		},
	}
	c.Flags().DurationVar(&first, "first", 0, "print only the facts of the beginning, such as 10s")
	return c
}

func printFacts(out io.Writer, rec *recording.Recording) error {
	if err := recording.FormatText(out, rec); err != nil {
		return fmt.Errorf("dwell facts: %w", err)
	}
	return nil
}

// cutRecording keeps the facts of the first first nanoseconds, as if the recorder had been stopped then.
func cutRecording(rec *recording.Recording, first recording.Duration) *recording.Recording {
	end := rec.Events[0].Time + recording.Time(first)
	var kept []recording.Event
	for _, e := range rec.Events {
		if e.Time >= end {
			kept = append(kept, recording.Event{Time: end, Fact: &recording.End{Reason: "time"}})
			return &recording.Recording{Events: kept}
		}
		kept = append(kept, e)
	}
	return rec
}
