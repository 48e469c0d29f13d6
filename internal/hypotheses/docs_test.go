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

dwell tests every hypothesis in one recording. Of each it says one of five things:

- **found**: the mechanism was seen, and its effect is real and worth having.
- **lead**: time that is worth having, whose cause is narrowed down but not proven, or lies elsewhere; with the most that it could save,
  and what would decide it.
- **minor**: the mechanism was seen, and what it is worth here is small, not told from zero, or the consequence of a finding.
- **ruled out**: the facts were recorded, there were enough chances, and it did not happen, or has under 2 % of the mean and of slow requests.
- **undecided**: facts are missing, facts that were lost while requests ran could hide what would be worth having, or there were
  fewer than 20 requests.

How they are told apart:

- *Worth having* is relative: the lower end of what is saved is at least 5 % (--worth) of the mean, of p50 or of p99, and 20 us, which is what
  can be measured.
- The saving is computed request by request: what goes with the cause is taken out, and the mean, p50 and p99 are computed again.
  No millisecond is counted for two findings: a cause is counted before its consequences. With a sleep, a disk, a page fault, a collection and a
  program goes what is waited for a processor right afterwards, and the handing over to a thread that does nothing else for the request. What no longer waits for one thing comes the sooner
  to the processors: where a replay reproduces what requests wait for those, what they wait longer then is taken off the saving.
- How sure that is, is computed on the same requests: they are cut into blocks, which begin where nothing is in flight, or after a second of
  requests that overlap (a tenth of a recording that is shorter than ten seconds); at most 64, neighbours joined. 200 times as many blocks as there
  are are drawn, one by one and with replacement, by the numbers of splitmix64 from 0 on; before and after are computed on each draw, and the middle
  90 % of the differences are the interval. What happened in one block only has an interval that reaches zero: it is a lead, with when it happened.
- What says *where*, not *why*, is a lead; it is a finding if it explains half of the difference between slow and ordinary requests
  and p99, and no fewer than three requests, are at least 3 times p50, or if p99 breaks the latency that was promised.
- A queue is a consequence of a finding that explains half of it.
- Time of unknown cause, and time that is not accounted for, leaves a hypothesis undecided where it would save 10 % of the mean, of p50 or of p99
  together with what was seen of it.
- What takes half of the time of an endpoint's requests, or makes half of what its slow ones take longer, is named first, whatever else is said of it.
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
