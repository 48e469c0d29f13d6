package build

import "github.com/getdwell/dwell/recording"

// counted is how many of some there are, and how many of them say otherwise than a rule.
type counted struct{ all, odd int }

func (n *counted) add(odd bool) {
	if n.all++; odd {
		n.odd++
	}
}

// rule reports that there are enough, and hardly one is an exception.
func (n counted) rule(enough int) bool { return n.all >= enough && n.odd*exceptions <= n.all }

// reaching is the latest end of a list up to each.
func reaching[T any](list []T, end func(*T) recording.Time) []recording.Time {
	reach := make([]recording.Time, len(list))
	for i := range list {
		if reach[i] = end(&list[i]); i > 0 {
			reach[i] = max(reach[i], reach[i-1])
		}
	}
	return reach
}
