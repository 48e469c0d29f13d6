package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
)

func human(d Duration) string { return diagnosis.Human(d) }

func thousands(n int64) string { return diagnosis.Thousands(n) }

func plural(n int, noun string) string { return diagnosis.Plural(n, noun) }

// percent prints a share with one decimal.
func percent(d Decimal) string {
	t := (int64(d) + 500) / 1000
	return fmt.Sprintf("%d.%d %%", t/10, t%10)
}
