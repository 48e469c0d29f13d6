package target

import (
	"cmp"
	"os"
	"slices"
	"strconv"

	"github.com/getdwell/dwell/recording"
)

// Neighbours watches what programs beside the recorded ones use of the processors, as
// /proc/PID/stat counts it.
type Neighbours struct {
	last map[neighbour]int64 // ns that a process had used when it was last looked at
}

// neighbour is one process: numbers are given out again.
type neighbour struct {
	pid   int
	start int64
}

const (
	// neighboursTold is how many programs are told of at a time: those that use most.
	neighboursTold = 3
	// neighboursRead is how many processes are looked at at most.
	neighboursRead = 20000
	// neighbourTicks is what a program has to have used to be told of.
	neighbourTicks = 2
)

// Sample returns what programs used since the last sample, those with most first; nothing
// at the first one. Processes of one name count together; those that are watched do not.
func (n *Neighbours) Sample(watched func(pid int) bool) (out []recording.Neighbour) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, err := dir.Readdirnames(neighboursRead)
	dir.Close()
	if err != nil {
		return nil
	}
	used, now := map[string]int64{}, map[neighbour]int64{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || watched(pid) || pid == os.Getpid() {
			continue
		}
		st, err := readStat(name)
		if err != nil {
			continue // it ended meanwhile
		}
		k := neighbour{pid, st.start}
		now[k] = st.cpu
		if n.last != nil {
			used[st.comm] += st.cpu - n.last[k] // of a new one all
		}
	}
	n.last = now
	for comm, cpu := range used {
		if cpu >= neighbourTicks*clockTick {
			out = append(out, recording.Neighbour{Comm: comm, CPU: cpu})
		}
	}
	slices.SortFunc(out, func(a, b recording.Neighbour) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.Comm, b.Comm))
	})
	return out[:min(len(out), neighboursTold)]
}
