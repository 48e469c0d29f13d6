package causality

import "math"

// Portion bounds how many of some calls an owner made.
type Portion struct{ Least, Most int }

// Exactly is the portion of an owner whose number of calls is known.
func Exactly(n int) Portion { return Portion{n, n} }

// AtLeast is the portion of an owner of which only a lower bound is known.
func AtLeast(n int) Portion { return Portion{n, math.MaxInt32} }

// Makers are the owners that may have made a call, by index: those from First to Last.
type Makers struct{ First, Last int }

// Deal tells which owners may have made each of n calls that went through a FIFO line, if all calls of one owner come
// before those of the next. It returns nil if no numbers within the portions add up to n.
func Deal(n int, portions []Portion) []Makers {
	var before, after Portion // how many calls the owners before, and after, the current one made
	for _, p := range portions {
		after.Least, after.Most = after.Least+p.Least, after.Most+p.Most
	}
	if n < after.Least || n > after.Most {
		return nil
	}
	makers := make([]Makers, n)
	for k := range makers {
		makers[k].First = len(portions)
	}
	for i, p := range portions {
		from := max(before.Least, n-after.Most)
		before.Least, before.Most = before.Least+p.Least, before.Most+p.Most
		after.Least, after.Most = after.Least-p.Least, after.Most-p.Most
		if p.Most == 0 {
			continue
		}
		for k := from; k < min(before.Most, n-after.Least); k++ {
			makers[k].First, makers[k].Last = min(makers[k].First, i), i
		}
	}
	return makers
}
