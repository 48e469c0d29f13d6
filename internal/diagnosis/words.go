package diagnosis

import (
	"math"
	"strconv"
	"strings"
)

// Human prints a duration with three digits and its unit: 417 us, 1.23 ms, 12.4 s.
func Human(d Duration) string {
	switch {
	case d < 0:
		return "-" + Human(-max(d, -math.MaxInt64)) // the smallest value has no positive counterpart
	case d == 0:
		return "0 ms"
	case d < 1000:
		return strconv.FormatInt(int64(d), 10) + " ns"
	}
	units := []struct {
		name string
		size Duration
	}{{"us", 1000}, {"ms", 1_000_000}, {"s", 1_000_000_000}}
	for i, u := range units {
		if rounded(d, u.size) >= 1000 && i < len(units)-1 {
			continue
		}
		if hundredths := rounded(d, u.size/100); hundredths < 1000 {
			return decimals(hundredths, 2) + " " + u.name
		}
		if tenths := rounded(d, u.size/10); tenths < 1000 {
			return decimals(tenths, 1) + " " + u.name
		}
		return Thousands(int64(rounded(d, u.size))) + " " + u.name
	}
	return ""
}

func rounded(d, by Duration) Duration { return d/by + (d%by+by/2)/by }

// decimals prints v, which counts units of 10^-places.
func decimals(v Duration, places int) string {
	digits := strconv.FormatInt(int64(v), 10)
	for len(digits) <= places {
		digits = "0" + digits
	}
	return digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}

// Percent prints a share in percent: whole from 10 % on, with one decimal below; 100 is all.
func Percent(s Share) string {
	if s < Whole/10 && s > 0 {
		if s < Whole/2000 {
			return "under 0.1 %"
		}
		return decimals(Duration((s+500)/1000), 1) + " %"
	}
	if s < Whole && s+5000 >= Whole {
		return "over 99 %"
	}
	return strconv.FormatInt(int64(s+5000)/10_000, 10) + " %"
}

// Thousands prints a number with commas.
func Thousands(n int64) string {
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

// Bytes prints an amount of data with three digits: 512 bytes, 4.10 kB, 1.23 GB.
func Bytes(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	size, unit := int64(1000), 0
	for n/size >= 1000 && unit < 3 {
		size, unit = size*1000, unit+1
	}
	hundredths := (n + size/200) / (size / 100)
	name := " " + [...]string{"kB", "MB", "GB", "TB"}[unit]
	switch {
	case hundredths < 1000:
		return decimals(Duration(hundredths), 2) + name
	case hundredths < 10_000:
		return decimals(Duration((hundredths+5)/10), 1) + name
	}
	return Thousands((hundredths+50)/100) + name
}

// Plural prints a number of things.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}
