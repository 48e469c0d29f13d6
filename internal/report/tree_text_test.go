package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A service with deep libraries: each function calls the next one, and something else where one sample happened to be
// taken. Such samples get no lines of their own, the functions of one chain share a line, and names stay readable at
// any depth.
func TestTreeOfADeepService(t *testing.T) {
	row := func(name string, ms, stacks int, below ...*TreeRow) *TreeRow {
		at := TreeTime{Total: Duration(ms) * 1e6, CPU: Duration(ms) * 1e6, Stacks: stacks}
		return &TreeRow{Frame: Frame{Name: name, Full: name}, Ordinary: at, Slow: at, Rows: below, site: len(below) == 0, beyond: len(below) > 0}
	}
	work := row("Orders.computeTheTotalOfAll", 400, 60)
	for i := 12; i > 0; i-- {
		work = row(fmt.Sprintf("Chain%d.next", i), 1000-i*10, 160-i, work, row("Stray.sample", 6, 1))
	}
	fork := work
	for i := range 10 {
		fork = row(fmt.Sprintf("Level%d.handleTheNext", i), 1000+100*(i+1), 200+20*i, fork, row("Other.part", 60, 10))
	}
	total := TreeTotal{Requests: 1, Total: fork.Slow.Total}
	var out bytes.Buffer
	if err := TreesText(&out, []*Tree{{Endpoint: "GET /", Ordinary: total, Slow: total, Rows: []*TreeRow{fork}}}, TreeOptions{TextOptions: TextOptions{Width: 60}}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "Stray") || strings.Count(text, "Chain") > 1 {
		t.Errorf("single samples make lines:\n%s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "…") && utf8.RuneCountInString(name) < 20 {
			t.Errorf("a name is cut to %q", name)
		}
	}
	if !strings.Contains(text, "eTheTotalOfAll") {
		t.Errorf("the place is not shown:\n%s", text)
	}
}
