package report

import (
	"fmt"
	"strconv"
	"strings"
)

// human prints a duration with three digits and its unit: 417 us, 1.23 ms, 12.4 s.
func human(d Duration) string {
	if d < 0 {
		return "-" + human(-d)
	}
	if d < 1000 {
		return strconv.FormatInt(int64(d), 10) + " ns"
	}
	units := []struct {
		name string
		size Duration
	}{{"us", 1000}, {"ms", 1_000_000}, {"s", 1_000_000_000}}
	for i, u := range units {
		whole, tenths, hundredths := round(d, u.size), round(d, u.size/10), round(d, u.size/100)
		switch {
		case whole >= 1000 && i < len(units)-1:
			continue
		case hundredths < 1000:
			return fmt.Sprintf("%d.%02d %s", hundredths/100, hundredths%100, u.name)
		case tenths < 1000:
			return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, u.name)
		}
		return thousands(int64(whole)) + " " + u.name
	}
	return ""
}

func round(d, by Duration) Duration { return (d + by/2) / by }

// percent prints a share with one decimal.
func percent(d Decimal) string {
	t := (int64(d) + 500) / 1000
	return fmt.Sprintf("%d.%d %%", t/10, t%10)
}

// thousands prints a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(int64(n)) + " " + noun + "s"
}
