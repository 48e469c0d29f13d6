package timeline

import (
	"slices"
	"strings"
)

// RuleTexts says in a sentence what each rule rests on: of those that give a call to its
// request (codes of Call.Why), and of those that tell what a wait is for (Wait.Rule).
func RuleTexts() map[string]string {
	out := map[string]string{}
	for _, list := range [][][2]string{callTexts(), waitTexts()} {
		for _, t := range list {
			out[t[0]] = t[1]
		}
	}
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

// waitPlace names what decides in the frames of a rule, by its first name.
func waitPlace(r waitRule) string {
	name, _, _ := strings.Cut(r.frames[len(r.frames)-1], "|")
	return strings.TrimLeft(name, "+^")
}

// waitTexts are of the rules that go by something else than the table of stacks, or by
// more of it than one place.
func waitTexts() [][2]string {
	return [][2]string{
		{RuleIdle, "it is a worker that waits for work, and sleeps where such workers do: nobody's request waits with it"},
		{RuleFutex, "it sleeps until another thread wakes it, and nothing tells for what"},
		{RuleFutexWord, "it sleeps on the word of CPython's interpreter lock"},
		{RuleOwner, "the mutex it sleeps on says which thread has it"},
		{RuleGiveBack, "whoever ends such waits waits there, too, one for one: what is waited for is given back"},
		{RuleShared, "whoever ends such waits gets, for another request, what they wait for"},
		{RuleVMThread, "the JVM's own thread stopped it, and let it go again"},
		{RuleGC, "the JVM's own thread stopped it and let it go again, and the collector ran meanwhile"},
		{RuleNoConn, "it read or wrote, and no bytes moved on any connection"},
		{RuleRubyGVL, "it sleeps until another thread of Ruby lets it run"},
		{RuleRubyYield, "it has let another thread of Ruby run, and sleeps until that does the same"},
		{RulePageFault, "it sleeps outside of any system call: the kernel brings in a page of memory"},
		{RuleDisk, "its sleep cannot be interrupted, as that for a disk cannot"},
		{RuleSyscall, "the system call it sleeps in tells"},
		{RuleMemoryLock, "it sleeps for the lock of its process's own address space, as the kernel tells"},
		{RuleChild, "it reads from, writes to or waits for a process that it started"},
		{RuleGoMutex, "Go's runtime was seen to park the goroutine for a sync.Mutex"},
		{RuleGoRWMutex, "Go's runtime was seen to park the goroutine for a sync.RWMutex"},
		{RuleGoWaitGroup, "Go's runtime was seen to park the goroutine for a sync.WaitGroup"},
		{RuleGoCond, "Go's runtime was seen to park the goroutine for a sync.Cond"},
		{RuleGoChannel, "Go's runtime was seen to park the goroutine for a channel"},
		{RuleGoPool, "Go's runtime was seen to park the goroutine where a library's pool has nothing free"},
		{RuleGoTimer, "Go's runtime was seen to park the goroutine for a channel on which a timer sends"},
		{RuleGoAssist, "Go's runtime was seen to park the goroutine until the collector lets it allocate again"},
		{RuleGoSleep, "Go's runtime was seen to park the goroutine in a sleep"},
	}
}
