package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// competes is from what share of the host's processors on programs that are not watched
// compete with the service: they can keep each of its threads waiting, however idle the
// processors are on average.
const competes = diagnosis.Whole / 10

// neighbours are the programs beside the watched ones, and what they used.
type neighbours struct {
	share    diagnosis.Share // of the host's processors, all that are told of together
	words    string          // "python3 used 48 % of the processors"; "" none is known
	evidence []diagnosis.Evidence
}

// besideUs says who else used the processors while requests were measured.
func besideUs(c *diagnosis.Case) (n neighbours) {
	from, to := c.Busy()
	used := tally{}
	for i := range c.Neighbours {
		s := &c.Neighbours[i]
		if over := min(s.Time, to).Sub(max(s.Since, from)); over > 0 {
			used[s.Comm] += diagnosis.ShareOf(int64(over), int64(s.Time.Sub(s.Since))).Of(Duration(s.CPU))
		}
	}
	var names []string
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	all := int64(to.Sub(from)) * max(1, c.Manifest.CPUs)
	var said []string
	for i, name := range names {
		part := diagnosis.ShareOf(int64(used[name]), all)
		n.share += part
		if i < 2 && part >= diagnosis.Whole/100 {
			said = append(said, name+" used "+diagnosis.Percent(part)+" of the processors")
			n.evidence = append(n.evidence, diagnosis.Part("of the processors' time was used by "+name+", which is not watched", part))
		}
	}
	n.words = strings.Join(said, ", ")
	return n
}

// clause tells of the neighbours after a title.
func (n *neighbours) clause() string {
	if n.words == "" {
		return ""
	}
	return "; beside the service " + n.words
}
