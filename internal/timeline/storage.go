package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// File is a regular file that a thread waited for.
type File struct {
	Name        string // the end of its path, identifiers as {}; "" unknown
	First, Size int64  // bytes, when it was first and last reported
}

// Named returns the file's name; "" if it is not known. The file may be nil.
func (f *File) Named() string {
	if f == nil {
		return ""
	}
	return f.Name
}

// Sync is one system call that waited until data was on a device. It covers the part that waited, whatever the thread
// did meanwhile. If the call was not recorded whole, it covers the span from the call's first sleep to its last.
type Sync struct {
	Strand    StrandID // the thread
	Goroutine recording.GoroutineID
	Syscall   string
	File      recording.FileID
	From, To  Time
}

// SyncID is an index of Syncs.
type SyncID int32

// Usage is the threads' use of storage. Reads and writes include files, sockets and pipes.
type Usage struct {
	Minor, Major int64 // page faults, and those of them that read from storage
	Fetched      int64 // bytes read from storage, not from the page cache
	In, Out      int64 // bytes that reads returned, and that writes took
}

// AddSleeps adds the sleeps of threads that delayed goroutines.
func (t *Timeline) AddSleeps(of map[StrandID][]WaitID) {
	for s, list := range of {
		list = append(list, t.Strands[s].Waits...)
		slices.Sort(list) // Waits are in order of time
		of[s] = list
	}
	t.sleepsOf = of
}

// Sleeps lists the Waits of a strand. For a goroutine it includes the sleeps of threads that delayed it: for a disk,
// for a program or in page faults.
func (t *Timeline) Sleeps(s StrandID) []WaitID {
	if list := t.sleepsOf[s]; list != nil {
		return list
	}
	return t.Strands[s].Waits
}

// Usage sums the use of storage by the threads of a process, or of all processes for NoProcess. It counts what threads
// had used when they left their CPUs in [from, to).
func (t *Timeline) Usage(p recording.ProcessID, from, to Time) (sum Usage) {
	for i := range t.Strands {
		if p != recording.NoProcess && t.Strands[i].Process != p {
			continue
		}
		var last *Off
		for _, iv := range Clipped(t.Strands[i].Intervals, from, to) {
			if off := iv.Off; off != nil && off != last && off.Since >= from && off.Since < to {
				sum.add(off)
			}
			last = iv.Off
		}
	}
	return sum
}

func (u *Usage) add(off *Off) {
	u.Minor += off.Minor
	u.Major += off.Major
	u.Fetched += off.Fetched
	u.In += off.In
	u.Out += off.Out
}

// FileName returns the name of the file that a sleep was for; "" if that is not known.
func (t *Timeline) FileName(off *Off) string {
	if off == nil {
		return ""
	}
	return t.Files[off.File].Named()
}
