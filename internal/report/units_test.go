package report

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func TestHuman(t *testing.T) {
	for d, want := range map[Duration]string{
		0: "0 ms", 830: "830 ns", 999: "999 ns", 1000: "1.00 us", 417_000: "417 us", 999_499: "999 us", 999_600: "1.00 ms",
		1_234_000: "1.23 ms", 12_340_000: "12.3 ms", 99_960_000: "100 ms", 123_400_000: "123 ms", 12_400_000_000: "12.4 s",
		1_234_000_000_000: "1,234 s", -1_500_000: "-1.50 ms", 9_999_000: "10.0 ms",
	} {
		if got := human(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

func TestTenthsSumToTheWhole(t *testing.T) {
	for _, shares := range [][]Decimal{
		{333_333, 333_333, 333_334}, {1_000_000}, {999_999, 1}, {111_111, 222_222, 666_667}, {4_999, 5_001, 990_000},
	} {
		sum := 0
		for i, v := range tenths(shares) {
			sum += v
			if d := int64(v)*1000 - int64(shares[i]); d > 1000 || d < -1000 {
				t.Errorf("%v: %d became %d", shares, shares[i], v)
			}
		}
		if sum != 1000 {
			t.Errorf("%v sums to %d", shares, sum)
		}
	}
}

func TestDecimal(t *testing.T) {
	for d, want := range map[Decimal]string{0: "0", 1: "0.000001", 250_000: "0.25", 12_000_000: "12", -1_500_000: "-1.5"} {
		if got := d.String(); got != want {
			t.Errorf("%d is %q, want %q", int64(d), got, want)
		}
		var back Decimal
		if err := back.UnmarshalJSON([]byte(want)); err != nil || back != d {
			t.Errorf("%q reads as %d, %v", want, int64(back), err)
		}
	}
	var d Decimal
	if d.UnmarshalJSON([]byte(`"x"`)) == nil {
		t.Error("a string is no number")
	}
}

// A report says which container, pod or unit was requested; if a process was chosen in another way, it names only the
// process.
func TestWhatWasAskedFor(t *testing.T) {
	for target, want := range map[string]string{
		"attach by container shop-web (3f2a1b4c5d6e), image shop:1.4": "container shop-web (3f2a1b4c5d6e), image shop:1.4: puma (pid 71)",
		"attach by unit nginx.service":                                "unit nginx.service: puma (pid 71)",
		"attach by pid":                                               "puma (pid 71)",
		"run":                                                         "puma (pid 71)",
	} {
		r := &Report{Recording: recorded(&timeline.Timeline{Manifest: recording.Manifest{Target: target}}), Seen: Seen{Processes: []string{"puma (pid 71)"}}}
		if got := who(r, true); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
