package calm

import (
	"context"
	"testing"
	"time"
)

func TestStolen(t *testing.T) {
	from, err := parse("cpu  100 0 50 800 10 0 0 40 7 0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := parse("cpu  130 10 60 840 10 0 5 45 90 0")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Stolen(from, to), 5.0/100; got != want {
		t.Errorf("stolen: %v, want %v", got, want)
	}
	if got := Stolen(to, to); got != 0 {
		t.Errorf("stolen of no time: %v", got)
	}
}

func TestOtherLines(t *testing.T) {
	for _, line := range []string{"", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 many"} {
		if got, err := parse(line); err == nil {
			t.Errorf("%q: %+v, want an error", line, got)
		}
	}
}

func TestWaitEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Wait(ctx, time.Hour); got > time.Minute {
		t.Errorf("waited %v after the end", got)
	}
}
