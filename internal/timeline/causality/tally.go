package causality

import "github.com/getdwell/dwell/recording"

// Tally is how many of some there are, and how many of them say otherwise than a rule.
type Tally struct{ All, Odd int }

// Add counts one, which is an exception or not.
func (n *Tally) Add(odd bool) {
	if n.All++; odd {
		n.Odd++
	}
}

// Exceptions is of how many, at least, one may say otherwise than a rule.
const Exceptions = 64

// Rule reports that there are enough, and hardly one is an exception.
func (n Tally) Rule(enough int) bool { return n.All >= enough && n.Odd*Exceptions <= n.All }

// Holds reports that a rule is believed: enough say the same, and so many for each that says otherwise.
func (n Tally) Holds(enough, forEach int) bool {
	right := n.All - n.Odd
	return right >= enough && right >= forEach*n.Odd
}

// Tallies hold a rule against what is known otherwise, of each kind by itself: of a process, a place
// in its code, a queue.
type Tallies[K comparable] map[K]Tally

// Add counts one of a kind, which is an exception or not.
func (n Tallies[K]) Add(k K, odd bool) {
	t := n[k]
	t.Add(odd)
	n[k] = t
}

// Judged tells what each kind is judged by: what is known of it, or, where that is few, what is known of all
// such of a wider kind together.
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

// How many must say the same as a rule for each that says otherwise.
const (
	Usually = 19  // of what is mostly so, and where what is wrong shows elsewhere too
	Surely  = 100 // of what alone tells whose calls are
)

// Reaching is the latest end of a list up to each.
func Reaching[T any](list []T, end func(*T) recording.Time) []recording.Time {
	reach := make([]recording.Time, len(list))
	for i := range list {
		if reach[i] = end(&list[i]); i > 0 {
			reach[i] = max(reach[i], reach[i-1])
		}
	}
	return reach
}
