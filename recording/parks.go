package recording

// Park is one span in which a goroutine of Go waited for a lock or for other
// goroutines, recorded when it ran again (the event's Time). What it waited for is in
// its program's own hands: the kernel sees no such wait.
type Park struct {
	Thread    ThreadID // that it ran on again; with Open, that it left
	Goroutine GoroutineID
	Parent    GoroutineID // that started Goroutine; NoGoroutine: not known
	Left      ThreadID    // that it ran on when it began to wait
	Since     Time
	Reason    ParkReason
	Object    int64 // address of the lock or other thing, which names it while somebody waits; 0 unknown
	Word      int64 // address at which a matching Unpark says that it was let go; 0 none
	Stack     StackID
	Open      int64 // 1: it still waits; Time is that at which the recording ended
}

// Unpark says that a goroutine let go of something for which another one was parked.
// While nobody waits, letting go is not recorded.
type Unpark struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Parent    GoroutineID // that started Goroutine; NoGoroutine: not known
	Word      int64       // as in Park; 0: Woken tells
	Woken     GoroutineID // whom it woke, where that is known
	Stack     StackID     // with which it let go
}

// GoProcs says how many goroutines of a Go process can run at once: its GOMAXPROCS.
type GoProcs struct {
	Process ProcessID
	Procs   int64
}

// Kind implements Fact.
func (*GoProcs) Kind() Kind { return KindGoProcs }

// Visit implements Fact.
func (f *GoProcs) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("procs", &f.Procs)
}

// Pause is a span in which all goroutines of a Go process were stopped, as for the
// garbage collector. Time is when they were let go.
type Pause struct {
	Thread  ThreadID // that stopped them
	Since   Time     // when it asked them to stop
	Stopped Time     // when all had; NoTime: not known
	Stack   StackID
}

// ParkReason is what a goroutine was parked for.
type ParkReason int64

// Reasons. A mutex within a sync.RWMutex, for which writers wait, is ParkMutex.
const (
	ParkOther     ParkReason = iota
	ParkMutex                // sync.Mutex
	ParkRead                 // the readers' side of a sync.RWMutex: a writer has it or is next
	ParkWrite                // the writers' side: readers have it
	ParkWaitGroup            // sync.WaitGroup
	ParkCond                 // sync.Cond
	ParkReceive              // from a channel
	ParkSend                 // to a channel
	ParkSelect               // of several channels
	ParkCollector            // until it may allocate again
	ParkSleep                // for a time that was known beforehand
)

var parkNames = []string{"other", "mutex", "rw-read", "rw-write", "wait-group", "cond", "receive", "send", "select", "collector", "sleep"}

// String returns the name used in the text form.
func (v ParkReason) String() string { return enumName(parkNames, int64(v)) }

// Kind implements Fact.
func (*Park) Kind() Kind { return KindPark }

// Visit implements Fact.
func (f *Park) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("parent", (*int64)(&f.Parent))
	v.Int("left", (*int64)(&f.Left))
	v.Int("since", (*int64)(&f.Since))
	v.Enum("reason", parkNames, (*int64)(&f.Reason))
	v.Int("object", &f.Object)
	v.Int("word", &f.Word)
	v.Int("stack", (*int64)(&f.Stack))
	v.Int("open", &f.Open)
}

// Kind implements Fact.
func (*Unpark) Kind() Kind { return KindUnpark }

// Visit implements Fact.
func (f *Unpark) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("parent", (*int64)(&f.Parent))
	v.Int("word", &f.Word)
	v.Int("woken", (*int64)(&f.Woken))
	v.Int("stack", (*int64)(&f.Stack))
}

// Kind implements Fact.
func (*Pause) Kind() Kind { return KindPause }

// Visit implements Fact.
func (f *Pause) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("since", (*int64)(&f.Since))
	v.Int("stopped", (*int64)(&f.Stopped))
	v.Int("stack", (*int64)(&f.Stack))
}
