package hypotheses

import (
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// storage is what the processes that serve had of storage while they served, whether or
// not a request waited for it.
type storage struct {
	known bool // it was recorded
	timeline.Usage
	syncs    []Duration // that waited, in order of length
	requests int
}

func storageOf(c *diagnosis.Case) storage {
	s := storage{known: c.Recorded(recording.HookStorage), requests: len(c.Overall.Requests)}
	if !s.known || s.requests == 0 {
		return s
	}
	from, to := c.End, c.Start
	serving := map[recording.ProcessID]bool{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		from, to = min(from, r.Start), max(to, r.End)
		serving[r.Process] = true
	}
	for _, p := range c.Processes {
		if serving[p.ID] {
			u := c.Usage(p.ID, from, to)
			s.Minor, s.Major, s.Fetched = s.Minor+u.Minor, s.Major+u.Major, s.Fetched+u.Fetched
		}
	}
	for i := range c.Syncs {
		if y := &c.Syncs[i]; serving[c.Strands[y.Strand].Process] && y.To > from && y.From < to {
			s.syncs = append(s.syncs, y.To.Sub(y.From))
		}
	}
	slices.Sort(s.syncs)
	return s
}

// syncP99 is how long the longest syncs took; 0 if none waited.
func (s *storage) syncP99() Duration {
	if len(s.syncs) == 0 {
		return 0
	}
	return s.syncs[(len(s.syncs)*99+99)/100-1]
}

// diskEvidence are numbers that hold of the whole service.
func (s *storage) diskEvidence() []diagnosis.Evidence {
	if !s.known {
		return nil
	}
	return []diagnosis.Evidence{
		diagnosis.Count("syncs of the service that waited", len(s.syncs)),
		diagnosis.NS("p99 of those syncs", s.syncP99()),
		diagnosis.Count("bytes that the service read from storage", int(s.Fetched)),
	}
}

// diskWords say them where no request waited for a disk.
func (s *storage) diskWords() string {
	text := "no request waited for a disk: the service read " + diagnosis.Bytes(s.Fetched) + " from storage, and "
	if len(s.syncs) == 0 {
		return text + "no sync waited, during " + diagnosis.Plural(s.requests, "request")
	}
	return text + diagnosis.Plural(len(s.syncs), "sync") + " waited (p99 " + diagnosis.Human(s.syncP99()) + "), during " +
		diagnosis.Plural(s.requests, "request")
}

// faultEvidence are numbers that hold of the whole service.
func (s *storage) faultEvidence() []diagnosis.Evidence {
	if !s.known {
		return nil
	}
	return []diagnosis.Evidence{
		diagnosis.Count("page faults of the service", int(s.Minor+s.Major)),
		diagnosis.Count("of them read from storage", int(s.Major)),
	}
}

// faultWords say them where no request slept in a page fault.
func (s *storage) faultWords() string {
	return "no request slept in a page fault: the service had " + perRequestText(s.Minor+s.Major, s.requests) + " a request, and " +
		diagnosis.Thousands(s.Major) + " of all read from storage"
}

// perRequestText prints how many there are for each request, with one decimal.
func perRequestText(n int64, requests int) string {
	tenths := n * 10 / int64(max(1, requests))
	return diagnosis.Thousands(tenths/10) + "." + strconv.FormatInt(tenths%10, 10)
}
