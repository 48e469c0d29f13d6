package timeline

// RuleChild is the rule of waits for a program that the waiting process started: for its start, its output or its end.
const RuleChild = "child-process"

// Rules for waits of goroutines: what they waited for is recorded.
const (
	RuleGoMutex     = "go-mutex"
	RuleGoRWMutex   = "go-rwmutex"
	RuleGoWaitGroup = "go-wait-group"
	RuleGoCond      = "go-cond"
	RuleGoChannel   = "go-channel"
	RuleGoSend      = "go-send"   // on a channel: for room in it, or for a receiver
	RuleGoPool      = "go-pool"   // for a library's pool
	RuleGoTimer     = "go-timer"  // for a channel on which a timer sends
	RuleGoAssist    = "go-assist" // until the collector lets it allocate again, or a collection begins or ends
	RuleGoSleep     = "go-sleep"  // in time.Sleep and the like
)

// RuleMemoryLock is the rule of Waits for the lock of the process's own address space.
const RuleMemoryLock = "memory-lock"

// Rules for waits for room in a queue of limited size.
const (
	RuleJVMRoom    = "jvm-room"
	RulePythonRoom = "py-room"
	RuleRubyRoom   = "ruby-room"
)

// ForRoom reports whether waits under a rule end when another strand takes an item from the queue or channel that is
// full.
func ForRoom(rule string) bool {
	return rule == RuleGoSend || rule == RuleJVMRoom || rule == RulePythonRoom || rule == RuleRubyRoom
}

// Rules that are known by name elsewhere.
const (
	RuleIdle      = "idle"          // a worker waits for work: no request waits with it
	RuleFutex     = "futex"         // all that is known is that it waits for another thread
	RuleFutexWord = "futex-word"    // the word is that of CPython's interpreter lock
	RuleOwner     = "mutex-owner"   // glibc's mutex names its holder
	RuleGiveBack  = "give-back"     // each strand that ends such a wait waits there too, one for one
	RuleShared    = "shared-result" // a strand that ends such a wait obtains, for another request, what the wait is for
	RuleVMThread  = "vm-thread"     // the JVM stopped its threads and let them go again
	RuleGC        = "vm-gc"         // as RuleVMThread, and the collector ran meanwhile
	RuleNoConn    = "no-connection" // a read or write that moved no bytes on any connection
	RuleRubyGVL   = "ruby-gvl"      // it waits until another Ruby thread lets it run
	RuleRubyYield = "ruby-gvl-turn" // it let another Ruby thread run, and waits until that thread lets it run again
	RulePageFault = "page-fault"
	RuleDisk      = "disk"
	RuleSyscall   = "syscall"
)
