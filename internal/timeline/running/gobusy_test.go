package running

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Both processors are busy from 0 to 500 us and from 600 to 900. From 900 to 950 one is idle, too briefly for a
// goroutine to be woken there; from 950 on one is idle.
func TestGoBusyTime(t *testing.T) {
	b := newGoBusyTime([]timeline.Interval{
		{From: 0, To: 500_000, State: timeline.StateRunnable},
		{From: 500_000, To: 600_001, State: timeline.StateSleeping},
		{From: 600_001, To: 900_000, State: timeline.StateRunnable},
		{From: 900_000, To: 950_000, State: timeline.StateSleeping},
		{From: 950_000, To: 2_000_000, State: timeline.StateSleeping},
	})
	for _, c := range []struct {
		from, to recording.Time
		want     recording.Duration
	}{
		{100_000, 200_000, 100_000},
		{400_000, 700_000, 199_999},
		{800_000, 1_500_000, 150_000},
		{1_000_000, 1_500_000, 0},
	} {
		if got := b.Waited(c.to) - b.Waited(c.from); got != c.want {
			t.Errorf("%d..%d: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
