package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// File is a regular file that a thread waited for.
type File struct {
	Name        string // the end of its path, identifiers as {}; "" unknown
	First, Size int64  // bytes, when it was first and last told of
}

// Sync is one system call that waited until data was on a device.
type Sync struct {
	Strand    StrandID // the thread
	Goroutine recording.GoroutineID
	File      recording.FileID
	From, To  Time
}

// Usage is what threads had of storage. Reads and writes are of files, sockets and pipes
// alike.
type Usage struct {
	Minor, Major int64 // page faults, and of them those that read from storage
	Fetched      int64 // bytes read from storage, not from the page cache
	In, Out      int64 // bytes that reads returned, and that writes took
}

// storageFacts are the facts about storage that are no thread's own.
type storageFacts struct {
	files    map[recording.FileID]*File
	mappings []Mapping
	waits    memoryWaits // in their order once byStrand was called
	blocks   []BlockIO
	memory   []MemorySample
}

// storageFact takes them.
func (f *facts) storageFact(at Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.File:
		if f.storage.files == nil {
			f.storage.files = map[recording.FileID]*File{}
		}
		if was := f.storage.files[x.ID]; was != nil {
			was.Size = max(was.Size, x.Size)
		} else {
			f.storage.files[x.ID] = &File{Name: x.Name, First: x.Size, Size: x.Size}
		}
	default:
		return f.memoryFact(at, fact)
	}
	return true
}

// buildStorage lists the files, the syncs, and where goroutines slept.
func buildStorage(t *Timeline, f *facts) {
	t.Files = f.storage.files
	buildMemory(t, f)
	for i := range f.threads {
		t.Syncs = appendSyncs(t.Syncs, StrandID(i), f.threads[i].steps)
	}
	t.Syncs = byTime(t.Syncs, func(s *Sync) Time { return s.From })
	goroutines := indexGoroutines(t)
	if len(goroutines) == 0 {
		return
	}
	t.sleepsOf = map[StrandID][]WaitID{}
	for i := range t.Waits {
		w := &t.Waits[i]
		if w.Off == nil || w.Off.Goroutine == recording.NoGoroutine || w.Cause != CauseDisk && w.Cause != CausePageFault && w.Cause != CauseIPC {
			continue
		}
		if s := goroutines.of(goKey{t.Strands[w.Strand].Process, w.Off.Goroutine}); s != None {
			t.sleepsOf[s] = append(t.sleepsOf[s], WaitID(i))
		}
	}
	for s, list := range t.sleepsOf {
		list = append(list, t.Strands[s].Waits...)
		slices.Sort(list) // Waits are in order of time
		t.sleepsOf[s] = list
	}
}

// Sleeps lists the Waits of a strand; of a goroutine, too, the sleeps of threads, for a
// disk, a program or in page faults, that held it up.
func (t *Timeline) Sleeps(s StrandID) []WaitID {
	if list := t.sleepsOf[s]; list != nil {
		return list
	}
	return t.Strands[s].Waits
}

// syncCall reports system calls that wait until data is on a device.
func syncCall(name string) bool {
	switch name {
	case "fsync", "fdatasync", "msync", "sync_file_range", "sync", "syncfs":
		return true
	}
	return false
}

// appendSyncs finds the syncs of a thread. One sync may sleep several times: those sleeps
// are of one call between which nothing was read or written. A call that never sleeps is
// not seen.
func appendSyncs(list []Sync, s StrandID, steps []step) []Sync {
	var last *Off
	for i := range steps {
		off := steps[i].off
		if off == nil {
			continue
		}
		if !syncCall(off.Syscall) {
			if off.State != recording.OffPreempted || off.In+off.Out > 0 {
				last = nil
			}
			continue
		}
		if last != nil && off.Syscall == last.Syscall && off.Arg == last.Arg && off.In+off.Out == 0 {
			y := &list[len(list)-1]
			y.To, y.File = steps[i].at, max(y.File, off.File) // one that was preempted names none
		} else {
			list = append(list, Sync{s, off.Goroutine, off.File, off.Since, steps[i].at})
		}
		last = off
	}
	return list
}

// Usage sums what the threads of a process, or of all if it is NoProcess, had of storage
// until they left their CPUs in [from, to).
func (t *Timeline) Usage(p recording.ProcessID, from, to Time) (sum Usage) {
	for i := range t.Strands {
		if p != recording.NoProcess && t.Strands[i].Process != p {
			continue
		}
		var last *Off
		for _, iv := range clipped(t.Strands[i].Intervals, from, to) {
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

// FileName names the file that a sleep was for; "" if that is not known.
func (t *Timeline) FileName(off *Off) string {
	if off == nil || t.Files[off.File] == nil {
		return ""
	}
	return t.Files[off.File].Name
}
