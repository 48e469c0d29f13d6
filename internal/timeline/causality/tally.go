package causality

import "github.com/getdwell/dwell/recording"

// Tally counts cases, and how many of them contradict a rule.
type Tally struct{ All, Odd int }

// Add counts one case; odd: it contradicts the rule.
func (n *Tally) Add(odd bool) {
	if n.All++; odd {
		n.Odd++
	}
}

// Exceptions is the least number of cases per exception that a rule allows.
const Exceptions = 64

// Rule reports whether there are enough cases and hardly any exception: at most one in Exceptions.
func (n Tally) Rule(enough int) bool { return n.All >= enough && n.Odd*Exceptions <= n.All }

// Holds reports whether a rule is believed: enough cases agree with it, and at least forEach for each one that does
// not.
func (n Tally) Holds(enough, forEach int) bool {
	right := n.All - n.Odd
	return right >= enough && right >= forEach*n.Odd
}

// Tallies check a rule against what is known otherwise, separately for each kind: for each process, place in its
// code, or queue.
type Tallies[K comparable] map[K]Tally

// Add counts one case of a kind; odd: it contradicts the rule.
func (n Tallies[K]) Add(k K, odd bool) {
	t := n[k]
	t.Add(odd)
	n[k] = t
}

// Judged returns the tally by which each kind is judged: its own, or, if that has fewer than few cases, the sum of
// all such small tallies of the same wider kind.
func (n Tallies[K]) Judged(few int, wider func(K) K) func(K) Tally {
	together := Tallies[K]{}
	for k, t := range n {
		if w := wider(k); t.All < few {
			together[w] = Tally{together[w].All + t.All, together[w].Odd + t.Odd}
		}
	}
	return func(k K) Tally {
		if t := n[k]; t.All >= few {
			return t
		}
		return together[wider(k)]
	}
}

// How many cases must agree with a rule for each case that does not.
const (
	Usually = 19  // for what is mostly true, if mistakes show elsewhere too
	Surely  = 100 // for a rule that alone decides the owners of calls
)

// Reaching returns, for each element of a list, the latest end of all elements up to it.
func Reaching[T any](list []T, end func(*T) recording.Time) []recording.Time {
	reach := make([]recording.Time, len(list))
	for i := range list {
		if reach[i] = end(&list[i]); i > 0 {
			reach[i] = max(reach[i], reach[i-1])
		}
	}
	return reach
}
