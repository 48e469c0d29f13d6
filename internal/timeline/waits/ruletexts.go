package waits

import (
	"maps"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// RuleTexts returns a sentence for each rule that says what the rule rests on. It covers the rules that assign a call
// to its request (codes of Call.Why) and those that determine what a wait is for (Wait.Rule).
func RuleTexts() map[string]string {
	out := timeline.CallTexts()
	maps.Copy(out, waitTexts())
	places := map[string][]string{} // that rules of the table ask for
	for _, r := range waitRules() {
		if at := waitPlace(r); at != "*" && !slices.Contains(places[r.code], at) {
			places[r.code] = append(places[r.code], at)
		}
	}
	for code, list := range places {
		if out[code] == "" {
			out[code] = "the stack in which it fell asleep leads through " + strings.Join(list, ", ") + " or the like"
		}
	}
	return out
}

// waitPlace returns the first name of the frame that decides a rule.
func waitPlace(r waitRule) string {
	name, _, _ := strings.Cut(r.frames[len(r.frames)-1], "|")
	return strings.TrimLeft(name, "+^")
}

// waitTexts returns the sentences of rules that use something other than the table of stacks, or more than one place of
// it.
func waitTexts() map[string]string {
	return map[string]string{
		timeline.RuleIdle:        "it is a worker that waits for work, and sleeps where such workers sleep: no request waits with it",
		timeline.RuleFutex:       "it sleeps until another thread wakes it; what for is not known",
		timeline.RuleFutexWord:   "it sleeps on the word of CPython's interpreter lock",
		timeline.RuleOwner:       "the mutex that it sleeps on names the thread that holds it",
		timeline.RuleGiveBack:    "each thread that ends such waits waits there too, one for one: what is waited for is given back",
		timeline.RuleShared:      "the thread that ends such waits obtains, for another request, what they wait for",
		timeline.RuleVMThread:    "the JVM's own thread stopped it, and let it go again",
		timeline.RuleGC:          "the JVM's own thread stopped it and let it go again, and the collector ran meanwhile",
		timeline.RuleNoConn:      "it read or wrote, and no bytes moved on any connection",
		timeline.RuleRubyGVL:     "it sleeps until another Ruby thread lets it run",
		timeline.RuleRubyYield:   "it has let another Ruby thread run, and sleeps until that thread lets it run again",
		timeline.RulePageFault:   "it sleeps outside of any system call: the kernel brings in a page of memory",
		timeline.RuleDisk:        "its sleep cannot be interrupted, as in waits for a disk",
		timeline.RuleSyscall:     "the system call in which it sleeps shows it",
		timeline.RuleMemoryLock:  "it sleeps for the lock of its process's own address space, as the kernel reports",
		timeline.RuleChild:       "it reads from, writes to or waits for a process that it started",
		timeline.RuleGoMutex:     "Go's runtime was seen to park the goroutine for a sync.Mutex",
		timeline.RuleGoRWMutex:   "Go's runtime was seen to park the goroutine for a sync.RWMutex",
		timeline.RuleGoWaitGroup: "Go's runtime was seen to park the goroutine for a sync.WaitGroup",
		timeline.RuleGoCond:      "Go's runtime was seen to park the goroutine for a sync.Cond",
		timeline.RuleGoChannel:   "Go's runtime was seen to park the goroutine for a channel",
		timeline.RuleGoSend:      "Go's runtime was seen to park the goroutine until something is taken from a channel",
		timeline.RuleGoPool:      "Go's runtime was seen to park the goroutine where a library's pool has nothing free",
		timeline.RuleGoTimer:     "Go's runtime was seen to park the goroutine for a channel on which a timer sends",
		timeline.RuleGoAssist:    "Go's runtime was seen to park the goroutine until the collector lets it allocate again, or a collection that it was to begin or end is begun or done",
		timeline.RuleGoSleep:     "Go's runtime was seen to park the goroutine in a sleep",
	}
}
