package running

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

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
