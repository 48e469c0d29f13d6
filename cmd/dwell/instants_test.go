package main

import (
	"os"
	"testing"

	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// Threads are blocked repeatedly: for a recording each such instant is shown, for a watched program only the first.
func TestAWatchedConditionIsShownOnce(t *testing.T) {
	text, err := os.Open("../../internal/hypotheses/testdata/lock-convoy/supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	rec, err := recording.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(pid int) int {
		list, err := threadsOptions{when: "blocked>1", pid: pid}.instants(tl, wallClock{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if all, one := shown(0), shown(100); all < 2 || one != 1 {
		t.Errorf("of a recording %d instants, of a program %d", all, one)
	}
}
