package report

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A cause looks alike on the page and in a terminal: of the page's colours, the one of the same cause is nearest to
// the terminal's colour, and no two causes share a colour.
func TestCausesLookAlikeOnThePageAndInATerminal(t *testing.T) {
	taken := map[style]string{}
	for _, c := range WebCauses() {
		ink := inks()[c.Name]
		if other := taken[ink]; other != "" {
			t.Errorf("%s and %s have the same colour in a terminal: %s", c.Name, other, ink)
		}
		taken[ink] = c.Name
		var n int
		if _, err := fmt.Sscanf(string(ink), "38;5;%d", &n); err != nil {
			t.Fatalf("%s: %q: %v", c.Name, ink, err)
		}
		nearest, least := "", 1<<30
		for _, other := range WebCauses() {
			light, dark := channels(other.Light), channels(other.Dark)
			between := [3]int{(light[0] + dark[0]) / 2, (light[1] + dark[1]) / 2, (light[2] + dark[2]) / 2}
			for _, of := range [][3]int{light, dark, between} { // the terminal's background is not known
				if d := apart(xterm(n), of); d < least {
					nearest, least = other.Name, d
				}
			}
		}
		if nearest != c.Name {
			t.Errorf("%s is printed in the colour that %s has on the page", c.Name, nearest)
		}
	}
}

// xterm is what a terminal shows for one of its 256 colours: sixteen basic ones, a cube, greys.
func xterm(n int) [3]int {
	if n >= 232 {
		return [3]int{8 + 10*(n-232), 8 + 10*(n-232), 8 + 10*(n-232)}
	}
	step := func(i int) int { return min(i, 1)*55 + 40*i }
	return [3]int{step((n - 16) / 36), step((n - 16) / 6 % 6), step((n - 16) % 6)}
}

func apart(a, b [3]int) (sum int) {
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}

// docs/terms.md uses the report's words for a cause and a phase.
func TestTermsSayWhatTheReportSays(t *testing.T) {
	terms, err := os.ReadFile("../../docs/terms.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, c := range WebCauses() {
		if c.Name != Unaccounted {
			rows = append(rows, "| "+c.Name+" | "+c.Means+" |")
		}
	}
	for _, p := range WebPhases() {
		rows = append(rows, "| "+p.Name+" | ")
	}
	for _, row := range rows {
		if !strings.Contains(string(terms), "\n"+row) {
			t.Errorf("docs/terms.md has no row %q", row)
		}
	}
}
