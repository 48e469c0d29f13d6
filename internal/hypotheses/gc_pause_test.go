package hypotheses

import "testing"

// Node's loop waits a moment for the threads that help its collector, and collects for long
// itself: the pauses are not what takes the time.
func TestPausedWords(t *testing.T) {
	const onThreads = ", on the threads that serve them"
	pauses := []Duration{1 * milli, 4 * milli}
	for _, x := range []struct {
		pauses         []Duration
		stopped, total Duration
		want           string
	}{
		{nil, 0, 200 * milli, onThreads},
		{pauses, 5 * milli, 200 * milli, onThreads},
		{pauses, 5 * milli, 5 * milli, ", in 2 pauses of up to 4.00 ms"},
	} {
		if got := pausedWords(x.pauses, x.stopped, x.total); got != x.want {
			t.Errorf("%v, %d of %d: %q, want %q", x.pauses, x.stopped, x.total, got, x.want)
		}
	}
}
