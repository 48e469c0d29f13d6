package causality

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Places with few cases are judged together with all other such places; a place with many cases is judged by itself.
func TestWhatLittleIsKnownOfIsJudgedTogether(t *testing.T) {
	counts := Tallies[string]{"much": {All: 200, Odd: 1}, "few": {All: 3, Odd: 0}, "fewer": {All: 2, Odd: 1}}
	judged := counts.Judged(4, func(string) string { return "" })
	for place, want := range map[string]Tally{
		"much": {200, 1}, "few": {5, 1}, "fewer": {5, 1}, "never seen": {5, 1},
	} {
		if got := judged(place); got != want {
			t.Errorf("%s is judged by %+v, want %+v", place, got, want)
		}
	}
}

// A rule that one case in 64 contradicts is believed; one with too few cases is not.
func TestWhatIsBelieved(t *testing.T) {
	for _, c := range []struct {
		tally   Tally
		rule    bool // with 8 or more cases
		usually bool // if 8 or more cases agree
	}{
		{Tally{7, 0}, false, false},
		{Tally{8, 0}, true, true},
		{Tally{64, 1}, true, true},
		{Tally{63, 1}, false, true},
		{Tally{20, 1}, false, true},
		{Tally{19, 1}, false, false},
	} {
		if got := c.tally.Rule(8); got != c.rule {
			t.Errorf("%+v rules: %v, want %v", c.tally, got, c.rule)
		}
		if got := c.tally.Holds(8, Usually); got != c.usually {
			t.Errorf("%+v usually holds: %v, want %v", c.tally, got, c.usually)
		}
	}
}

// What began earlier may reach further than everything that began since.
func TestReaching(t *testing.T) {
	list := []Span{{0, 9}, {2, 4}, {3, 12}}
	if got, want := Reaching(list, func(s *Span) recording.Time { return s.To }), []recording.Time{9, 9, 12}; !slices.Equal(got, want) {
		t.Errorf("up to each they reach until %v, want %v", got, want)
	}
}
