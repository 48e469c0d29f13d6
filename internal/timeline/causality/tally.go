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

// Rule reports that there are enough, and hardly one is an exception.
func (n Tally) Rule(enough int) bool { return n.All >= enough && n.Odd*Exceptions <= n.All }

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

const Exceptions = 64 // of so many tasks, one may make fewer calls

// MostShare is one more than how many of a few exceptions make a rule.
const MostShare = 8
