package truth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// goLocks is the Go service whose goroutines wait for each other.
func goLocks() runtimeKind {
	return runtimeKind{"go", func(bin string) []string { return []string{bin + "/golocks"} }}
}

// goLockScenarios are lockScenarios of Go: the kernel sees none of these waits. The site
// and the holder are named with file and line.
func goLockScenarios() []lockScenario {
	of := func(problem, name string, p plan) lockScenario {
		return lockScenario{
			scenario: scenario{name: name, plan: p, workers: 6, runtime: goLocks()},
			problem:  problem, cause: timeline.CauseLock, finding: "refresh-under-lock", calm: 40,
		}
	}
	call := of("call", "a lock held over a call", plan{delay: 8000})
	call.site, call.holder = "main.(*tokens).serve", "main.(*visit).query (problems.go:"
	cpu := of("cpu", "a lock held over computing", plan{cpu: 2000})
	cpu.site, cpu.holder, cpu.finding, cpu.workers = "main.(*ledger).serve", "main.(*ledger).checksum (problems.go:", "lock-convoy", 3
	file := of("file", "a lock held while data goes to the disk", plan{})
	file.site, file.holder = "main.(*journal).serve", "main.(*journal).store (problems.go:"
	readers := of("rw", "readers behind a writer that makes a call", plan{delay: 8000})
	// So many wait here for sync.Cond, too, that channels may have been watched for too short a
	// while to tell the line of the call: then it is the function that has the lock.
	readers.site, readers.holder = "main.(*settings).serve", "main.(*visit).query (problems.go:|main.(*settings).refresh (problems.go:"
	pool := of("pool", "a pool of two in a channel", plan{delay: 8000})
	pool.site, pool.cause, pool.finding, pool.calm = "main.(*pool).borrow", timeline.CausePool, "pool-exhausted", 80
	return []lockScenario{call, cpu, file, readers, pool}
}

// TestGoLocks records a Go service whose goroutines wait for each other and compares what
// dwell says of the waits, of who had the lock and of the reason with the service's log.
func TestGoLocks(t *testing.T) {
	for _, sc := range goLockScenarios() {
		t.Run(sc.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.playGo(t) })
		})
	}
}

// How long a Go scenario is played: waits are many.
const (
	goWarmUp = 500 * time.Millisecond
	goLoad   = 2500 * time.Millisecond
)

func (sc lockScenario) playGo(t *testing.T) []string {
	s := sc.stage(t)
	s.send(sc.scenario, goWarmUp)
	file, recorder := s.record()
	sent := s.send(sc.scenario, goLoad)
	time.Sleep(settle)
	s.stop(recorder)
	truth := s.lockTruth(sent)
	q := sc.question()
	q.Go = true
	score := CompareLocks(s.load(file), s.build(file), q, truth)
	showLocks(t, sc, score)
	if sc.cause == timeline.CausePool {
		score.Waits -= score.Waits * unwatchedChannels(s.load(file)) / 100
	}
	problems := sc.problems(score)
	all := s.diagnosis(file)
	for _, f := range all {
		if f.ID != sc.finding {
			continue
		}
		if !sc.says(f) || !strings.Contains(f.text, sc.site+" (problems.go:") && sc.cause == timeline.CauseLock {
			problems = append(problems, fmt.Sprintf("want %q and %q in %s", sc.site, sc.holder, f.text))
		}
		return problems
	}
	return append(problems, fmt.Sprintf("%s is not among the findings: %q", sc.finding, s.findings(file)))
}

// unwatchedChannels returns for how much of the load, in percent, a recording says that
// waits for channels were not seen, as probes on them would have cost too much. A tenth of
// the load more goes, for waits do not come evenly.
func unwatchedChannels(rec *recording.Recording) int {
	missing := 0
	for _, e := range rec.Events {
		if m, is := e.Fact.(*recording.Missing); is {
			if _, after, of := strings.Cut(m.Why, "wait for channels: not seen for "); of {
				fmt.Sscanf(after, "%d ms", &missing)
			}
		}
	}
	if missing == 0 {
		return 0
	}
	return min(100, 10+missing*100/int(goLoad.Milliseconds()))
}

// TestRepairedGoLocksGiveNoFinding plays the same service with the problem gone.
func TestRepairedGoLocksGiveNoFinding(t *testing.T) {
	t.Parallel()
	for _, sc := range goLockScenarios() {
		if sc.problem == "cpu" || sc.problem == "file" { // to save time: they differ in where they wait only
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			leaveOut(t)
			fixed := sc.fixed().load()
			try := fixed.trying(t)
			try(func() []string {
				s := newStage(t, fixed)
				s.send(fixed, goWarmUp)
				file, recorder := s.record()
				s.send(fixed, goLoad)
				s.stop(recorder)
				if found := s.findings(file); len(found) > 0 {
					return []string{fmt.Sprintf("findings on a healthy service: %q", found)}
				}
				return nil
			})
		})
	}
}
