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

// timeOfDay prints a time since the Unix epoch as hours, minutes and seconds of its day in UTC, for comparison with
// the output of other tools.
func timeOfDay(ns int64) string {
	const day = 86_400_000
	ms := (ns/1_000_000%day + day) % day
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// between gives the bounds of a saving in a sentence in which "to" would be read as a result.
func between(low, high Duration) string {
	if human(low) == human(high) {
		return human(high)
	}
	return "between " + human(max(0, low)) + " and " + human(high)
}

// longer is for how long to record so that intervals of savings become half as wide, and p99 rests on enough requests.
func (r *Report) longer() string {
	seconds := 4 * r.Recording.Seconds / unit
	if rate := r.Requests.PerSecond; rate > 0 {
		seconds = max(seconds, firm*unit/rate)
	}
	return "at least " + thousands(int64(seconds)+1) + " s"
}
