package recording

// Park is one span in which a goroutine of Go waited for a lock or for other goroutines, recorded when it ran again
// (the event's Time). The program itself implements this wait; the kernel does not see it.
type Park struct {
	Thread    ThreadID // on which it ran again; with Open, the thread it left
	Goroutine GoroutineID
	Parent    GoroutineID // the goroutine that started Goroutine; NoGoroutine: not known
	Left      ThreadID    // the thread on which it ran when it began to wait
	Since     Time
	Reason    ParkReason
	Object    int64 // address of the lock or other object, which identifies it while a goroutine waits; 0 unknown
	Word      int64 // address that a matching Unpark names when it is released; 0 none
	Stack     StackID
	Open      int64 // 1: it still waits; Time is when the recording ended
}

// Unpark says that a goroutine released something for which another goroutine was parked. A release is not recorded
// if no goroutine waits.
type Unpark struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Parent    GoroutineID // the goroutine that started Goroutine; NoGoroutine: not known
	Word      int64       // as in Park; 0: see Woken
	Woken     GoroutineID // the goroutine it woke, if known
	Stack     StackID     // of the release
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

// Pause is a span in which all goroutines of a Go process were stopped, for example by the garbage collector. Time is
// when they were allowed to continue.
type Pause struct {
	Thread  ThreadID // the thread that stopped them
	Since   Time     // when it asked them to stop
	Stopped Time     // when all had stopped; NoTime: not known
	Stack   StackID
}

// ParkReason is what a goroutine was parked for.
type ParkReason int64

// Reasons. The mutex inside a sync.RWMutex, for which writers wait, counts as ParkMutex.
const (
	ParkOther     ParkReason = iota
	ParkMutex                // sync.Mutex
	ParkRead                 // read-lock of a sync.RWMutex: a writer holds it or is next
	ParkWrite                // write-lock of a sync.RWMutex: readers hold it
	ParkWaitGroup            // sync.WaitGroup
	ParkCond                 // sync.Cond
	ParkReceive              // from a channel
	ParkSend                 // to a channel
	ParkSelect               // on several channels
	ParkCollector            // until the garbage collector lets it allocate
	ParkSleep                // for a time that was known in advance
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
