package recording

// Mapping says that a thread changed its address space. Recorded are mappings of files from 1 MiB on, mappings that
// moved or grew, and memory from 16 MiB on.
type Mapping struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Syscall   string // "mmap" or "mremap"
	Bytes     int64
	Before    int64  // mremap: the size before
	File      FileID // the file that is mapped; NoFile: memory, or mremap, which does not name a file
}

// MemoryWait says that a thread waited at least 20 us, from Since to the event's Time, for the lock of its own
// address space. Other threads were changing the address space or looking up pages in it.
type MemoryWait struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Since     Time
	Syscall   string   // "" in a page fault
	Write     int64    // 1: to change the address space; 0: to look a page up
	Owner     ThreadID // the thread that was changing it when the wait began; NoThread: not known, or only readers held the lock
}

// Sync says that a thread had a file written to its device, from Since to the event's Time. Only syncs of at least 20
// us are recorded, whether the thread slept, ran in the kernel or waited for a processor meanwhile.
type Sync struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Since     Time
	Syscall   string // "fsync" or similar, or the call that writes to a file opened with O_SYNC
	File      FileID // NoFile: not a regular file
}

// BlockIO is what a block device completed since From, for all processes of the host.
type BlockIO struct {
	Device    string // its name, such as "vda"
	Operation string // "read", "write" or "flush"
	From      Time
	Count     int64
	Bytes     int64
	Queued    int64 // ns that those requests waited before the device received them, summed up
	Serviced  int64 // ns that the device worked on them, summed up
	P50       int64 // ns of both, per request: an upper bound, within a factor of two
	P99       int64
	Longest   int64 // ns of both, since the device was first seen
}

// Memory is a sample of a process's address space.
type Memory struct {
	Process  ProcessID
	Virtual  int64 // bytes mapped
	Resident int64 // bytes of it in memory
	Shared   int64 // bytes of those that belong to files or are shared
}

// Kind implements Fact.
func (*Mapping) Kind() Kind { return KindMapping }

// Visit implements Fact.
func (f *Mapping) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Str("syscall", &f.Syscall)
	v.Int("bytes", &f.Bytes)
	v.Int("before", &f.Before)
	v.Int("file", (*int64)(&f.File))
}

// Kind implements Fact.
func (*MemoryWait) Kind() Kind { return KindMemoryWait }

// Visit implements Fact.
func (f *MemoryWait) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("since", (*int64)(&f.Since))
	v.Str("syscall", &f.Syscall)
	v.Int("write", &f.Write)
	v.Int("owner", (*int64)(&f.Owner))
}

// Kind implements Fact.
func (*Sync) Kind() Kind { return KindSync }

// Visit implements Fact.
func (f *Sync) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("since", (*int64)(&f.Since))
	v.Str("syscall", &f.Syscall)
	v.Int("file", (*int64)(&f.File))
}

// Kind implements Fact.
func (*BlockIO) Kind() Kind { return KindBlockIO }

// Visit implements Fact.
func (f *BlockIO) Visit(v Visitor) {
	v.Str("device", &f.Device)
	v.Str("operation", &f.Operation)
	v.Int("from", (*int64)(&f.From))
	v.Int("count", &f.Count)
	v.Int("bytes", &f.Bytes)
	v.Int("queued", &f.Queued)
	v.Int("serviced", &f.Serviced)
	v.Int("p50", &f.P50)
	v.Int("p99", &f.P99)
	v.Int("longest", &f.Longest)
}

// Kind implements Fact.
func (*Memory) Kind() Kind { return KindMemory }

// Visit implements Fact.
func (f *Memory) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("virtual", &f.Virtual)
	v.Int("resident", &f.Resident)
	v.Int("shared", &f.Shared)
}
