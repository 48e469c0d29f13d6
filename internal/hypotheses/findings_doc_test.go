package hypotheses

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every hypothesis is explained in docs/findings.md once, so that a finding on the screen can be looked up there: each
// begins a row or a paragraph.
func TestFindingsAreExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "| "), "`"); ok {
			if id, _, _ := strings.Cut(rest, "`"); id != "" {
				explained = append(explained, id)
			}
		}
	}
	var all []string
	for _, h := range All() {
		all = append(all, h.ID)
	}
	slices.Sort(explained)
	slices.Sort(all)
	if !slices.Equal(explained, all) {
		t.Errorf("explained:\n%v\nhypotheses:\n%v", explained, all)
	}
}
