package running

import (
	"github.com/getdwell/dwell/internal/timeline"
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

// GoRuns are where and when goroutines ran; nil maps where there are no Go programs.
type GoRuns struct {
	Sights [][]sight // by thread
	Stints map[timeline.GoroutineKey][]timeline.ThreadStint
	Busy   map[recording.ProcessID]goBusyTime
}

// Goroutines finds where and when the goroutines of Go programs ran.
func Goroutines(t *timeline.Timeline, f *facts.Facts) GoRuns {
	for i := range f.Processes {
		if f.Processes[i].Runtime == recording.RuntimeGo {
			sights := goSights(f)
			return GoRuns{sights, goStints(f, sights), goBusy(t, f)}
		}
	}
	return GoRuns{}
}
