package report

import (
	"iter"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Process is one that served measured requests, from its start to its end. After a deployment, a restart or recycling
// it is another Process.
type Process struct {
	PID      int64     `json:"pid"`
	Name     string    `json:"name"`
	Exe      string    `json:"exe"`
	Runtime  string    `json:"runtime"`
	Build    string    `json:"build"`   // build id of its executable; "" not known
	Version  string    `json:"version"` // value of the environment variable that the recorder was told to read; "" not known
	Born     *Duration `json:"born_ns"` // start of its program; null not known
	Ended    *Duration `json:"ended_ns"`
	Requests int       `json:"requests"`
}

// measured returns the requests of the reported endpoints, in order of id.
func measured(d *diagnosis.Diagnosis, tl *timeline.Timeline) iter.Seq[*timeline.Request] {
	told := map[string]bool{}
	for i := range d.Symptoms {
		told[d.Symptoms[i].Endpoint] = true
	}
	return func(yield func(*timeline.Request) bool) {
		for i := range tl.Requests {
			if r := &tl.Requests[i]; told[r.Endpoint] && r.Measured() && !yield(r) {
				return
			}
		}
	}
}

// servedBy numbers the processes of measured requests, in the order in which they first served one.
func servedBy(d *diagnosis.Diagnosis, tl *timeline.Timeline) map[recording.ProcessID]int {
	index := map[recording.ProcessID]int{}
	for r := range measured(d, tl) {
		if _, ok := index[r.Process]; !ok {
			index[r.Process] = len(index)
		}
	}
	return index
}

func processesOf(d *diagnosis.Diagnosis, tl *timeline.Timeline) []Process {
	index := servedBy(d, tl)
	out := make([]Process, len(index))
	for i := range out {
		out[i].Name = "unknown"
	}
	for i := range tl.Processes {
		p := &tl.Processes[i]
		if n, ok := index[p.ID]; ok {
			out[n] = Process{PID: p.PID, Name: p.Comm, Exe: p.Exe, Runtime: p.Runtime.String(), Build: p.Build, Version: p.Version,
				Born: fromStart(tl, p.Born), Ended: fromStart(tl, p.End)}
		}
	}
	for r := range measured(d, tl) {
		out[index[r.Process]].Requests++
	}
	return out
}

// fromStart returns a time relative to the recording's start; nil if it is not known.
func fromStart(tl *timeline.Timeline, t timeline.Time) *Duration {
	if t == recording.NoTime {
		return nil
	}
	d := t.Sub(tl.Start)
	return &d
}
