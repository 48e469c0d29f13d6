package hypotheses

import (
	"slices"
	"testing"
)

// Of an interpreter's threads one at a time has it: who runs, or else who was ready first.
func TestOneHasATurnAtATime(t *testing.T) {
	runs := oneByOne([]piece{{window: window{8, 12}, request: 2}}, nil)
	got := oneByOne([]piece{{window: window{5, 15}, request: 1, ready: true}, {window: window{0, 10}, request: 0, ready: true}}, runs)
	want := []piece{{window: window{0, 8}, request: 0, ready: true}, {window: window{12, 15}, request: 1, ready: true}}
	if !slices.Equal(got, want) {
		t.Errorf("ready with a turn: %v, want %v", got, want)
	}
}
