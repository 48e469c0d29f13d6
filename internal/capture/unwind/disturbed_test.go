//go:build linux && (amd64 || arm64)

package unwind

import (
	"errors"
	"testing"
)

func TestADisturbedLookIsRepeated(t *testing.T) {
	const disturbed = "failed to determine system configs: system analysis helper failed at 0x20: numerical result out of range (helper err=-34)"
	for _, test := range []struct {
		name   string
		errors []string // of consecutive loads
		loads  int
		fails  bool
	}{
		{name: "at once", errors: []string{""}, loads: 1},
		{name: "disturbed twice", errors: []string{disturbed, disturbed, ""}, loads: 3},
		{name: "refused", errors: []string{"operation not permitted", ""}, loads: 1, fails: true},
		{name: "disturbed for ever", errors: []string{disturbed, disturbed, disturbed, disturbed, disturbed, ""}, loads: lookTries, fails: true},
	} {
		loads := 0
		_, err := undisturbed(func() (int, error) {
			loads++
			if e := test.errors[loads-1]; e != "" {
				return 0, errors.New(e)
			}
			return loads, nil
		})
		if loads != test.loads || (err != nil) != test.fails {
			t.Errorf("%s: %d loads and error %v, want %d loads, an error: %v", test.name, loads, err, test.loads, test.fails)
		}
	}
}
