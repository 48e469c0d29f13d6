package hypotheses

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const docs = "../../docs/hypotheses.md"

// TestDocs keeps docs/hypotheses.md equal to the list of hypotheses.
func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Hypotheses

<!-- Generated from internal/hypotheses: go test ./internal/hypotheses -run TestDocs -update -->

dwell tests every hypothesis in one recording and says of each that it is **supported** (a finding), **refuted** (with
the number that refutes it) or **undecided** (with what was missing).

- A finding saves at least 1 ms and at least 10 % of p50 or p99, and more than two halves of the same recording differ by;
  or than they differ by without it, where it saves that in what is left without the three of twenty parts that it hits hardest.
  What would save twice as much as a finding must, again and again, but less than the halves differ by, is undecided.
- What says *where*, not *why*, is a finding only if it explains half of the difference between slow and ordinary requests
  and p99, and no fewer than three requests, are at least 3 times p50, or if p99 breaks the latency that was promised.
- Refuted needs the facts recorded, none of them lost while requests ran, and at least 20 requests.
- The saving is computed request by request: what goes with the cause is taken out, and p50 and p99 are computed again.
  No millisecond is counted for two findings: a cause is counted before its consequences.
- A queue is a consequence of a finding that explains half of it.
`)
	for _, h := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n", h.ID, h.Title, h.Doc)
		needs := slices.Clone(h.Needs)
		fmt.Fprintf(&b, "- Needs the hooks: %s\n", strings.Join(needs, ", "))
		if h.Where {
			b.WriteString("- Says where, not why\n")
		}
		if h.Queue {
			b.WriteString("- Is a queue\n")
		}
		if len(h.Explains) > 0 {
			fmt.Fprintf(&b, "- May explain: %s\n", strings.Join(h.Explains, ", "))
		}
	}
	if *update {
		if err := os.WriteFile(docs, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil || string(got) != b.String() {
		t.Errorf("docs/hypotheses.md is not what the list says: -update writes it (%v)", err)
	}
}

// TestTheListIsSound keeps ids unique and relations between existing hypotheses.
func TestTheListIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range All() {
		if seen[h.ID] || h.Title == "" || h.Doc == "" || len(h.Needs) == 0 || h.Test == nil {
			t.Errorf("%s is not complete or not unique", h.ID)
		}
		seen[h.ID] = true
	}
	for _, h := range All() {
		for _, id := range h.Explains {
			if !seen[id] || id == h.ID {
				t.Errorf("%s explains %q", h.ID, id)
			}
		}
	}
}
