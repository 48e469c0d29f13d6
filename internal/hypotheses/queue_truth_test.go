package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// TestWhatIfIsWhatHappens: services are played with all their work, and with half of it in one function, at the same
// arrivals. What the replay of the first says about the change must be what the second does.
func TestWhatIfIsWhatHappens(t *testing.T) {
	for _, x := range []struct {
		name, ask string
		play      func(work float64) *scenario
	}{
		{"a lock over computing", "lock S.find work S.rebuild x0.5", rebuilding},
		{"Python's interpreter", "interpreter work app.recompute x0.5", func(w float64) *scenario { return python(w).scenario }},
		{"Ruby's interpreter", "interpreter work recompute x0.5", func(w float64) *scenario { return ruby(w).scenario }},
	} {
		t.Run(x.name, func(t *testing.T) {
			was, mended := caseOf(t, done(x.play(1), 50)), caseOf(t, done(x.play(0.5), 50))
			got, err := WhatIf(was, x.ask)
			if err != nil {
				t.Fatal(err)
			}
			mean := func(c *diagnosis.Case) Duration { return c.Time() / Duration(len(c.Measured())) }
			for _, y := range []struct {
				of                   string
				was, truth, said, by Duration
			}{
				{"mean", mean(was), mean(mended), got.Mean.Was, got.Mean.Is},
				{"p99", was.Overall.P99, mended.Overall.P99, got.P99.Was, got.P99.Is},
			} {
				saves, said := y.was-y.truth, y.said-y.by
				if off := max(saves-said, said-saves); off > saves*15/100 {
					t.Errorf("%s: %d -> %d us in truth, the replay says %d -> %d", y.of, y.was/1000, y.truth/1000, y.said/1000, y.by/1000)
				}
			}
		})
	}
}

func caseOf(t *testing.T, rec *recording.Recording) *diagnosis.Case {
	t.Helper()
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.NewCase(tl, diagnosis.Options{})
}
