package truth

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// lockScenario is a service whose threads wait for each other in one known way.
type lockScenario struct {
	scenario
	problem string // the services' PROBLEM
	cause   timeline.Cause
	finding string  // the id that dwell must give, and give first
	site    string  // what the finding must name: where it is waited for
	holder  string  // and the function that keeps them waiting, or one that will do as well after a "|"; "" if it is no function
	busy    bool    // two more processes want both processors
	calm    float64 // requests a second of the repaired service, far below what it can
}

// jvm is the JVM service with locks.
func jvm(options ...string) runtimeKind {
	return runtimeKind{"java", func(string) []string {
		args := append([]string{"java", "-Dsun.net.httpserver.nodelay=true"}, options...)
		return append(args, "services/Locks.java")
	}}
}

// threaded is the Python service with locks.
func threaded() runtimeKind {
	return runtimeKind{"python", func(string) []string { return []string{"python3", "services/locks.py"} }}
}

// pumaLocks is the Ruby service with locks.
func pumaLocks() runtimeKind {
	return runtimeKind{"ruby", func(string) []string { return []string{"ruby", "services/locks.rb"} }}
}

// lockScenarios come with a few clients that ask again at once: then each waits for the
// others however fast the machine is, and nothing piles up.
func lockScenarios() []lockScenario {
	call := scenario{name: "a lock held over a call", plan: plan{delay: 8000}, workers: 4}
	cpu := scenario{name: "a lock held over computing", plan: plan{cpu: 2000}, workers: 3}
	pool := scenario{name: "a pool of two", plan: plan{delay: 8000}, workers: 6}
	// More than the 1 ms after which this service's interpreter has a thread stand back for another.
	gil := scenario{name: "a thread that computes", plan: plan{cpu: 3000}, workers: 1}
	turns := gil // Ruby's threads have a tenth of a second each: one client would ask too seldom
	turns.workers = 4
	busy := call
	busy.name += ", busy processors"
	busy.alone = true
	all := pool
	all.broadcast = true
	on := func(kind runtimeKind, sc lockScenario) lockScenario {
		sc.runtime = kind
		return sc
	}
	java := jvm("-Xmx256m")
	return []lockScenario{
		on(java, lockScenario{call, "call", timeline.CauseLock, "refresh-under-lock", "Tokens.serve", "Tokens.renew", false, 40}),
		on(java, lockScenario{busy, "call", timeline.CauseLock, "refresh-under-lock", "Tokens.serve", "Tokens.renew", true, 0}),
		on(java, lockScenario{cpu, "cpu", timeline.CauseLock, "lock-convoy", "Ledger.serve", "Ledger.checksum", false, 40}),
		on(java, lockScenario{pool, "pool", timeline.CausePool, "pool-exhausted", "ConnectionPool.borrow", "", false, 80}),
		on(threaded(), lockScenario{call, "call", timeline.CauseLock, "refresh-under-lock", "Tokens.serve", "locks.query", false, 40}),
		on(threaded(), lockScenario{busy, "call", timeline.CauseLock, "refresh-under-lock", "Tokens.serve", "locks.query", true, 0}),
		on(threaded(), lockScenario{cpu, "cpu", timeline.CauseLock, "lock-convoy", "Ledger.serve", "Ledger.checksum", false, 40}),
		on(threaded(), lockScenario{pool, "pool", timeline.CausePool, "pool-exhausted", "ConnectionPool.borrow", "", false, 80}),
		on(threaded(), lockScenario{gil, "gil", timeline.CauseInterpreterLock, "interpreter-lock", "", "Interpreter.summarise", false, 20}),
		on(pumaLocks(), lockScenario{call, "call", timeline.CauseLock, "refresh-under-lock", "Tokens#serve", "(GET /answer), called from Object#query (puma.rb:", false, 40}),
		on(pumaLocks(), lockScenario{cpu, "cpu", timeline.CauseLock, "lock-convoy", "Ledger#serve", "Ledger#checksum", false, 40}),
		on(pumaLocks(), lockScenario{turns, "gil", timeline.CauseInterpreterLock, "interpreter-lock", "", "Interpreter#summarise", false, 20}),
		on(pumaLocks(), lockScenario{all, "pool", timeline.CausePool, "pool-exhausted", "TimedStack#pop", "", false, 80}),
	}
}

// storm allocates, in a heap that its live data nearly fill.
func storm(options ...string) lockScenario {
	return lockScenario{
		scenario: scenario{name: "a storm of allocations", plan: plan{cpu: 500}, rate: 100,
			runtime: jvm(append(options, "-Xmx96m", "-XX:+UseSerialGC")...)},
		problem: "gc", cause: timeline.CauseGC, finding: "gc-pause", calm: 60,
	}
}

// fixed is the repaired service.
func (sc lockScenario) fixed() lockScenario {
	sc.env = append(sc.env, "FIXED=1")
	sc.rate, sc.workers = sc.calm, 0
	return sc
}

// stage starts the service, and what runs beside it.
func (sc lockScenario) stage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, sc.load())
	if sc.busy {
		for range 2 {
			s.rivals = append(s.rivals, s.start(proc.Options{Args: []string{"sh", "-c", "while :; do :; done"}}))
		}
	}
	return s
}

// load is the scenario with the service's environment.
func (sc lockScenario) load() scenario {
	sc.env = append(sc.env, "PROBLEM="+sc.problem)
	return sc.scenario
}

// says reports whether a finding names the place and the code that must be named.
func (sc lockScenario) says(f found) bool {
	return f.ID == sc.finding && strings.Contains(f.text, sc.site) &&
		slices.ContainsFunc(strings.Split(sc.holder, "|"), func(name string) bool { return strings.Contains(f.text, name) })
}
