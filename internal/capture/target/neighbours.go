package target

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/recording"
)

// Neighbours measures how much other programs use the processors, from /proc/PID/stat.
type Neighbours struct {
	last map[neighbour]int64 // ns that a process had used at the last sample
}

// neighbour is one process; numbers are reused.
type neighbour struct {
	pid   int
	start int64
}

const (
	// neighboursTold is how many programs a sample reports: those that used most.
	neighboursTold = 3
	// neighboursRead is the maximum number of processes examined.
	neighboursRead = 20000
	// neighbourTicks is the minimum use of a program that is reported.
	neighbourTicks = 2
)

// Sample returns what programs used since the last sample, the largest first; the first call returns nothing.
// Processes with the same name count together; watched processes do not count.
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
			used[st.comm] += st.cpu - n.last[k] // for a new process all of it
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

// Programs remembers the names of processes for a second. The zero value remembers none.
type Programs struct {
	names map[uint32]programName
}

type programName struct {
	comm string
	read time.Time
}

// programsKept is the maximum number of names remembered.
const programsKept = 1000

// Name returns the name of a process, as in /proc/PID/comm; of one that has ended, the last name that was read. "" if none was.
func (p *Programs) Name(pid uint32) string {
	now := time.Now()
	known, ok := p.names[pid]
	if ok && now.Sub(known.read) < time.Second {
		return known.comm
	}
	comm, err := os.ReadFile(procPath(int(pid), "comm"))
	if err != nil && ok {
		comm = []byte(known.comm) // it has ended
	}
	if p.names == nil || len(p.names) >= programsKept {
		p.names = map[uint32]programName{}
	}
	known = programName{strings.TrimSuffix(string(comm), "\n"), now}
	p.names[pid] = known
	return known.comm
}
