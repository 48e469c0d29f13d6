//go:build linux && (amd64 || arm64)

package unwind

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The code of rb_during_gc in Debian's Rubies, and code that is not understood.
func TestWhereRubyKeepsItsHeap(t *testing.T) {
	for _, c := range []struct {
		what, code string
		want       rubyHeap
	}{
		{"3.1.2", "488b05a1e72d00 488b00 488b8050040000 0fb64010 c0e805 83e001 c3", rubyHeap{0x450, 16}},
		{"3.1.7", "488b0521132e00 488b00 488b8058040000 0fb64010 c0e805 83e001 c3", rubyHeap{0x458, 16}},
		{"3.3.8", "f30f1efa 488d052d713700 488b00 4885c0 7415 488b8018050000 0fb64010 c0e805 83e001 c3", rubyHeap{0x518, 16}},
		{"flags of four bytes", "488b0521132e00 488b8058040000 8b4010 c1e805 83e001 c3", rubyHeap{0x458, 16}},
		{"another flag", "488b0521132e00 488b00 488b8058040000 0fb64010 c0e806 83e001 c3", rubyHeap{}},
		{"a collector that is a library", "488b0521132e00 488b00 e900000000", rubyHeap{}},
		{"no code", "", rubyHeap{}},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := heapOf(code); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
