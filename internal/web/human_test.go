package web_test

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// The page writes durations and amounts of data as the terminal does; its own test reads these examples too.
func TestQuantitiesAreWrittenAlike(t *testing.T) {
	type example struct {
		Unit string `json:"unit"`
		N    int64  `json:"n"`
		Text string `json:"text"`
	}
	var list []example
	for _, ns := range []diagnosis.Duration{0, 1, 999, 1000, 1004, 1005, 9_994, 9_995, 99_949, 99_950, 999_499, 999_500, 1_234_567, 12_345_678, 999_499_999,
		999_500_000, 1_000_000_000, 59_994_000_000, 1_234_000_000_000, -1_500_000} {
		list = append(list, example{"ns", int64(ns), diagnosis.Human(ns)})
	}
	for _, n := range []int64{0, 1, 999, 1000, 1004, 1005, 9_994, 9_995, 99_949, 99_950, 999_499, 999_500, 1_234_567_890, 5_000_000_000_000_000} {
		list = append(list, example{"bytes", n, diagnosis.Bytes(n)})
	}
	alike(t, "../../ui/test/human.json", list)
}
