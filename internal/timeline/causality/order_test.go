package causality

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// span reads where a letter begins and ends in a drawing of time, with a column for each unit: "..AAA." is from 2 to
// 5.
func span(drawing string, letter rune) Span {
	return Span{recording.Time(strings.IndexRune(drawing, letter)), recording.Time(strings.LastIndex(drawing, string(letter)) + 1)}
}

// TestOrder: what is taken later was put in later.
//
//	put    AAA.......BBB....
//	taken  .....AA.X......BB      X is not known
//
// X was taken after A, so it was put in at or after the time at which A's work began to be put in. What is taken
// before A was put in before A's work was.
func TestOrder(t *testing.T) {
	put, taken := "AAA.......BBB....", ".....AA.X......BB"
	o := NewOrder([]Passage{
		{span(put, 'B'), span(taken, 'B')},
		{span(put, 'A'), span(taken, 'A')},
	})
	for _, c := range []struct {
		because string
		taken   Span
		put     Span
	}{
		{"after A, before B", span(taken, 'X'), Span{0, 9}},
		{"after both", Span{17, 18}, Span{10, 18}},
		{"before both", Span{2, 4}, Span{recording.NoTime, 3}},
		{"while A was: nothing tells which of them was first", Span{6, 7}, Span{recording.NoTime, 7}},
	} {
		if got := o.Put(c.taken); got != c.put {
			t.Errorf("%s: what is taken in %v was put in in %v, want %v", c.because, c.taken, got, c.put)
		}
	}
	if got := new(Order).Put(Span{3, 4}); got != (Span{recording.NoTime, 4}) {
		t.Errorf("where nothing is known it was put in in %v", got)
	}
}

// TestOrderOfWhatIsKnownLoosely: the tightest bound need not come from the work that ended last or began first.
func TestOrderOfWhatIsKnownLoosely(t *testing.T) {
	o := NewOrder([]Passage{
		{Put: Span{1, 2}, Taken: Span{8, 20}},
		{Put: Span{0, 6}, Taken: Span{7, 8}},
		{Put: Span{9, 10}, Taken: Span{11, 12}},
	})
	if got := o.Put(Span{21, 22}); got != (Span{9, 22}) {
		t.Errorf("what is taken last was put in in %v, want after 9, as the third was", got)
	}
	if got := o.Put(Span{3, 4}); got != (Span{recording.NoTime, 2}) {
		t.Errorf("what is taken first was put in in %v, want before 2, as the first was", got)
	}
}

// shared is a test case for Shares: owners are letters, and so are the candidates for each task.
type shared struct {
	because string
	may     []string
	left    map[rune]int // how many tasks each owner put in, if known
	blur    []recording.Time
	cut     string // owners that may have further tasks outside what was seen
	whose   string // by task; "-": no known owner
}

func (c *shared) solve() *Shares[rune] {
	s := &Shares[rune]{
		Life: func(o rune) (Span, bool) { return Span{0, 100}, !strings.ContainsRune(c.cut, o) },
		Left: func(o rune) (int, bool) { n, sure := c.left[o]; return n, sure },
		Blur: c.blur,
	}
	for _, may := range c.may {
		s.May = append(s.May, []rune(may))
	}
	s.Solve()
	return s
}

// TestShares: the owners of tasks follow from the candidates and from how many tasks each owner put in.
func TestShares(t *testing.T) {
	for _, c := range []shared{
		{"the only one whose it may be", []string{"A", "B"}, nil, nil, "", "AB"},
		{"several, and nothing else is known", []string{"AB", "AB"}, nil, nil, "", "--"},
		{"A has its one task, so the other is B's", []string{"A", "AB"}, map[rune]int{'A': 1}, nil, "", "AB"},
		{"A may have no more than the two that it lacks", []string{"AB", "AB", "B"}, map[rune]int{'A': 2}, nil, "", "AAB"},
		{"but not if another task may be its", []string{"AB", "AB", "B"}, map[rune]int{'A': 2}, []recording.Time{50}, "", "--B"},
		{"nor if some are beyond what was seen", []string{"AB", "AB", "B"}, map[rune]int{'A': 2}, nil, "A", "--B"},
		{"one conclusion leads to the next", []string{"A", "AB", "BC"}, map[rune]int{'A': 1, 'B': 1, 'C': 1}, nil, "", "ABC"},
		{"but not where more is left than was put in", []string{"AB", "AB", "AB"}, map[rune]int{'A': 1, 'B': 1}, nil, "", "---"},
		{"nor where one has more than its share", []string{"AB", "AB"}, map[rune]int{'A': 3, 'B': -1}, nil, "", "--"},
	} {
		got := ""
		for _, o := range c.solve().Whose {
			if o == Nobody {
				o = '-'
			}
			got += string(o)
		}
		if got != c.whose {
			t.Errorf("%s: the tasks are %s, want %s", c.because, got, c.whose)
		}
	}
}

// TestSharesThatDoNotAddUp: an owner that put in one task cannot have two, nor none; both are counted.
func TestSharesThatDoNotAddUp(t *testing.T) {
	for tasks, odd := range map[int]bool{0: false, 1: false, 2: true} {
		c := shared{left: map[rune]int{'A': 1}}
		c.may = slices.Repeat([]string{"A"}, tasks)
		if s := c.solve(); (s.Odd > 0) != odd {
			t.Errorf("%d tasks of one that put in one: %d contradictions", tasks, s.Odd)
		}
	}
}
