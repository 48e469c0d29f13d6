package build

import (
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// parkSights adds to what was seen on threads that a goroutine left one to wait, and
// where it ran again.
func parkSights(f *facts.Facts, see func(recording.ThreadID, recording.Time, recording.GoroutineID), left func(recording.ThreadID, recording.Time)) {
	for _, p := range f.Parks.Parks {
		see(p.Left, p.Since, p.Goroutine)
		left(p.Left, p.Since)
		if p.Open == 0 {
			see(p.Thread, p.At, p.Goroutine)
		}
	}
	for _, u := range f.Parks.Unparks {
		see(u.Thread, u.At, u.Goroutine)
	}
}
