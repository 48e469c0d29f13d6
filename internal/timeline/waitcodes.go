package timeline

// RuleChild is the rule of waits for a program that the waiting process started: for its
// beginning, for what it writes, for its end.
const RuleChild = "child-process"

// Rules of the waits of goroutines: what they waited for is recorded.
const (
	RuleGoMutex     = "go-mutex"
	RuleGoRWMutex   = "go-rwmutex"
	RuleGoWaitGroup = "go-wait-group"
	RuleGoCond      = "go-cond"
	RuleGoChannel   = "go-channel"
	RuleGoSend      = "go-send"   // of a channel: for room in it, or for who takes from it
	RuleGoPool      = "go-pool"   // of a library's pool
	RuleGoTimer     = "go-timer"  // from a channel on which a timer sends
	RuleGoAssist    = "go-assist" // until the collector lets it allocate again
	RuleGoSleep     = "go-sleep"  // in time.Sleep and the like
)

// RuleMemoryLock is the rule of Waits for the lock of the process's own address space.
const RuleMemoryLock = "memory-lock"

// Rules of waits for room in a queue that has no more than so much of it.
const (
	RuleJVMRoom    = "jvm-room"
	RulePythonRoom = "py-room"
	RuleRubyRoom   = "ruby-room"
)

// ForRoom reports the rule of waits that end when somebody takes from the queue, or the channel, to which something is to be put.
func ForRoom(rule string) bool {
	return rule == RuleGoSend || rule == RuleJVMRoom || rule == RulePythonRoom || rule == RuleRubyRoom
}

// Rules that are known by name elsewhere.
const (
	RuleIdle      = "idle"          // a worker waits for work: nobody's request waits with it
	RuleFutex     = "futex"         // nothing is known but that it waits for another thread
	RuleFutexWord = "futex-word"    // the word is that of CPython's interpreter lock
	RuleOwner     = "mutex-owner"   // glibc's mutex says who has it
	RuleGiveBack  = "give-back"     // whoever ends such waits waits there too, one for one
	RuleShared    = "shared-result" // whoever ends such waits gets for another request what they are for
	RuleVMThread  = "vm-thread"     // the JVM stopped its threads and let them go again
	RuleGC        = "vm-gc"         // the same, and its collector ran meanwhile
	RuleNoConn    = "no-connection" // a read or write that moved no bytes on any connection
	RuleRubyGVL   = "ruby-gvl"      // it waits until another thread of Ruby lets it run
	RuleRubyYield = "ruby-gvl-turn" // it has let another thread of Ruby run, and waits until that does
	RulePageFault = "page-fault"
	RuleDisk      = "disk"
	RuleSyscall   = "syscall"
)
