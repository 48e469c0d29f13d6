package timeline

import "github.com/getdwell/dwell/recording"

// Pause is a span in which all goroutines of a process were stopped.
type Pause struct {
	Process  recording.ProcessID
	From, To Time
}
