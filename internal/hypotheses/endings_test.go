package hypotheses

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Clients close connections that were idle for a while: advice to keep connections at all
// would be beside the point.
func TestClientsThatCloseIdleConnections(t *testing.T) {
	text, err := os.ReadFile("testdata/connection-churn/supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[int]struct{ story, fix string }{
		0:             {"our side closes them first", "requests.Session"},
		1_200_000_000: {"our side closes them when idle", "keep idle connections for longer than the pauses between calls"},
	} {
		d := diagnosis.Diagnose(built(t, closedLater(string(text), after)), []diagnosis.Hypothesis{connectionChurn()}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.HasSuffix(d.Findings[0].Title, want.story) || !strings.Contains(d.Findings[0].Fix, want.fix) {
			t.Errorf("closed %d ns after the answer: %+v, want %q", after, d.Findings, want)
		}
	}
}

// closedLater is a recording in which connections are closed, and it ends, so many ns later.
func closedLater(text string, after int) string {
	var head, lines []string
	for line := range strings.Lines(text) {
		at, rest, _ := strings.Cut(line, " ")
		ns, err := strconv.Atoi(at)
		if err != nil {
			head = append(head, line)
			continue
		}
		if strings.HasPrefix(rest, "closed conn=") || strings.HasPrefix(rest, "end ") {
			ns += after
		}
		lines = append(lines, fmt.Sprintf("%020d %s", ns, rest))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:20], b[:20]) })
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "0")
	}
	return strings.Join(append(head, lines...), "")
}
