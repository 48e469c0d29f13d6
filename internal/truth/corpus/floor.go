package corpus

import "fmt"

// Floor is the least that a recording may come to, each in thousandths.
type Floor struct {
	Precision int `json:"precision"` // of the calls that were given to a request or rightly to none, the right ones
	Recall    int `json:"recall"`    // of all calls, the right ones
}

// FloorOf is the floor below what was counted: no loss of precision, and at most one call in
// a hundred given to nobody instead.
func FloorOf(c Count) Floor {
	return Floor{Precision: c.precision(), Recall: max(0, c.recall()-10)}
}

// Faults says what of a count is below the floor.
func (f Floor) Faults(c Count) (faults []string) {
	check := func(what string, is, least int) {
		if is < least {
			faults = append(faults, fmt.Sprintf("%s %d.%d %%, at least %d.%d %% is asked for", what, is/10, is%10, least/10, least%10))
		}
	}
	check("precision", c.precision(), f.Precision)
	check("recall", c.recall(), f.Recall)
	return faults
}

func (c Count) precision() int { return thousandths(c.Right, c.Right+c.Wrong) }

func (c Count) recall() int { return thousandths(c.Right, c.All()) }

func thousandths(part, all int) int { return 1000 * part / max(1, all) }
