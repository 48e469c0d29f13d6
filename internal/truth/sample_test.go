package truth

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// sample is what CI plays: each runtime and each kind of trouble once. Scenarios that
// differ from these in the runtime, the load or what stands in for a hook alone are left to make test.
func sample() []string {
	return strings.Split(strings.TrimSpace(`
TestAgainstTruth/python/connection_per_request
TestAgainstTruth/python/over_UDP,_every_third_lost
TestAgainstTruth/python/over_UDP,_asked_again_too_early
TestAgainstTruth/ruby/64_at_once_for_16_threads
TestAgainstTruth/node/calm
TestAgainstTruth/node/Promise.all,_full_pool
TestAgainstTruth/node/connection_per_call
TestAgainstTruth/node/TLS,_connection_per_call
TestAgainstTruth/node/fetch
TestAgainstTruth/go/connection_per_request
TestAgainstTruth/go/goroutine_per_call,_full_pool
TestAgainstTruth/go/TLS,_kept
TestAgainstTruth/go/2,000_calls/s
TestAgainstTruth/go/over_UDP,_every_third_lost
TestFaultsOfLibraries/python/nagle
TestFaultsOfLibraries/node/shared_connection
TestFaultsOfLibraries/python/workers
TestFaultsOfLibraries/go/templates
TestFaultsOfLibraries/java/look-ups
TestFaultsOfLibraries/ruby/helper
TestFewRequests/python
TestLostDatagrams/python
TestLostDatagrams/go
TestByOtherWays/scheduling/python/calm
TestByOtherWays/processes/ruby/two_processes
TestByOtherWays/reads_and_writes_at_the_end_of_system_calls/node/direct,_full_pool
TestByOtherWays/reads_and_writes_at_the_end_of_system_calls/go/bodies
TestAttachedUnderLoad/python
TestHealthyServicesGiveNoFinding/node/honest_50_ms_peer
TestHealthyServicesGiveNoFinding/python/70_%_of_what_it_can
TestHealthyServicesGiveNoFinding/ruby/70_%_of_what_it_can
TestHealthyServicesGiveNoFinding/node/70_%_of_what_it_can
TestHealthyServicesGiveNoFinding/go/70_%_of_what_it_can
TestLocks/java/a_lock_held_over_a_call,_busy_processors
TestLocks/java/a_pool_of_two
TestLocks/python/a_lock_held_over_computing
TestLocks/python/a_thread_that_computes
TestLocks/ruby/a_lock_held_over_a_call
TestLocks/ruby/a_lock_held_over_computing
TestLocks/ruby/a_pool_of_two
TestLocks/ruby/a_thread_that_computes
TestRepairedLocksGiveNoFinding/java/a_lock_held_over_computing
TestRepairedLocksGiveNoFinding/java/a_storm_of_allocations
TestRepairedLocksGiveNoFinding/python/a_lock_held_over_a_call
TestRepairedLocksGiveNoFinding/python/a_thread_that_computes
TestRepairedLocksGiveNoFinding/ruby/a_thread_that_computes
TestRepairedLocksGiveNoFinding/ruby/a_pool_of_two
TestHandOffs/java/one_on_executor
TestHandOffs/java/fan_of_8,_small_executor
TestHandOffs/java/async,_16_at_once
TestHandOffs/java/threads
TestHandOffs/python/fan_of_4
TestGoLocks/a_lock_held_over_a_call
TestGoLocks/readers_behind_a_writer_that_makes_a_call
TestGoLocks/a_pool_of_two_in_a_channel
TestRepairedGoLocksGiveNoFinding/a_pool_of_two_in_a_channel
`), "\n")
}

func inCI() bool { return os.Getenv("CI") == "true" }

// leaveOut skips a scenario in CI that is not of the sample.
func leaveOut(t *testing.T) {
	t.Helper()
	if inCI() && !slices.Contains(sample(), t.Name()) {
		t.Skip("CI plays a sample: see sample")
	}
}

// loadFor is how long a scenario is played, where as many requests as CI has are enough.
func loadFor() time.Duration {
	if inCI() {
		return 3 * time.Second
	}
	return 5 * time.Second
}

// playedFor is longer where each request's times are compared, one at a time.
func (sc scenario) playedFor() time.Duration {
	if sc.causes {
		return judgedFor
	}
	return loadFor()
}

// judgedFor is how long a scenario is played whose findings count: requests must be enough
// to decide.
const judgedFor = 5 * time.Second

// The sample names scenarios that there are, of each test, and each of its runtimes.
func TestTheSampleIsOfEveryRuntime(t *testing.T) {
	all := map[string]bool{}
	of := func(test string, names ...string) {
		all[test+"/"+strings.ReplaceAll(strings.Join(names, "/"), " ", "_")] = false
	}
	for _, sc := range scenarios() {
		of("TestAgainstTruth", sc.runtime.name, sc.name)
	}
	for _, kind := range attached() {
		of("TestAttachedUnderLoad", kind.name)
	}
	for _, sc := range healthyServices() {
		of("TestHealthyServicesGiveNoFinding", sc.runtime.name, sc.name)
	}
	for _, sc := range lockScenarios() {
		of("TestLocks", sc.runtime.name, sc.name)
	}
	for _, sc := range append(lockScenarios(), storm()) {
		of("TestRepairedLocksGiveNoFinding", sc.runtime.name, sc.name)
	}
	for _, f := range faults(0, "") {
		of("TestFaultsOfLibraries", f.runtime.name, f.name)
	}
	for _, sc := range fewRequests() {
		of("TestFewRequests", sc.runtime.name)
	}
	for _, sc := range lossy() {
		of("TestLostDatagrams", sc.runtime.name)
	}
	for _, sc := range handOffs() {
		of("TestHandOffs", sc.runtime.name, sc.name)
	}
	for _, sc := range goLockScenarios() {
		of("TestGoLocks", sc.name)
		of("TestRepairedGoLocksGiveNoFinding", sc.name)
	}
	for what, way := range otherWays() {
		for _, name := range way.scenarios {
			of("TestByOtherWays", what, name)
		}
	}
	for _, name := range sample() {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no scenario %s", name)
		}
		all[name] = true
	}
	played := map[string]bool{}
	kind := func(name string) string { // test/runtime, or the test alone
		parts := strings.Split(name, "/")
		return strings.Join(parts[:min(len(parts), 3)-1], "/")
	}
	for name, is := range all {
		played[kind(name)] = played[kind(name)] || is
	}
	for name, is := range played {
		if !is {
			t.Errorf("CI plays nothing of %s", name)
		}
	}
}
