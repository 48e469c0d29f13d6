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

dwell tests every hypothesis in one recording, and gives each one of five verdicts:

- **found**: the mechanism was seen, and its effect is real and worth having.
- **lead**: time that is worth having, whose cause is narrowed down but not proven, or lies elsewhere. A lead says the most that it
  could save, and what would decide it.
- **minor**: the mechanism was seen, but what it is worth here is small, cannot be told from zero, or is a consequence of a finding.
- **ruled out**: the facts were recorded, there were enough chances, and it did not happen, or it has under 2 % of the mean and of slow requests.
- **undecided**: facts are missing; or facts that were lost while requests ran could hide something worth having; or there were
  fewer than 20 requests.

How the verdicts are reached:

- *Worth having* is relative. The lower end of the saving must be at least 5 % (--worth) of the mean, of p50 or of p99, and at least
  20 us, which is what can be measured.
- The saving is computed request by request: the time that goes with the cause is taken out, and the mean, p50 and p99 are computed
  again. No millisecond counts for two findings: a cause is counted before its consequences. With a sleep, a disk, a page fault, a
  collection or a program goes the wait for a processor right after it, and the handing over to a thread that does nothing else for the
  request. Requests that no longer wait for one thing come to the processors sooner. If a replay reproduces the requests' waits for
  processors, what they then wait longer is subtracted from the saving.
- The uncertainty of the saving is computed on the same requests. They are cut into blocks, which begin where nothing is in flight, or
  after a second of requests that overlap (a tenth of a recording that is shorter than ten seconds). There are at most 64 blocks;
  neighbours are joined. Samples of as many blocks are drawn 200 times, one block at a time and with replacement, with the numbers of
  splitmix64 from 0 on. Before and after are computed on each draw; the middle 90 % of the differences are the interval. The interval of
  something that happened in one block only reaches zero: it is a lead, with when it happened.
- A hypothesis that says *where*, not *why*, is a lead. It is a finding if it explains half of the difference between slow and ordinary
  requests, and p99 and at least three requests are at least 3 times p50; or if p99 breaks the latency that was promised.
- A queue is a consequence of a finding that explains half of it.
- Time of unknown cause, and time that is not accounted for, leaves a hypothesis undecided if, together with what was seen of it, it
  would save 10 % of the mean, of p50 or of p99.
- What takes half of the time of an endpoint's requests, or makes half of what its slow ones take longer, is named first, whatever else
  is said about it.
`)
	for _, h := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n%s\n\n", h.ID, h.Title, h.Doc)
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
