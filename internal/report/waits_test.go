package report

import (
	"bytes"
	"testing"
)

// A holder about which nothing more is known is only named.
func TestHoldersLines(t *testing.T) {
	p := newPage(TextOptions{})
	holderLines(p, []shownHolder{
		{Strand: "worker #2", To: 30_000_000},
		{Strand: "worker #3", To: 20_000_000, Doing: []shownDone{{Cause: "on-cpu", Took: 20_000_000}}},
	})
	var out bytes.Buffer
	if err := p.flush(&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "      held by worker #2 for 30.0 ms\n      held by worker #3 for 20.0 ms: 20.0 ms on-cpu\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
