package truth

import (
	"strings"
	"testing"
	"time"
)

func executor(file string) runtimeKind {
	if strings.HasSuffix(file, ".py") {
		return runtimeKind{"python", func(string) []string { return []string{"python3", file} }}
	}
	return runtimeKind{"java", func(string) []string { return []string{"java", file} }}
}

// handOffs are services that hand their calls to other threads.
func handOffs() []scenario {
	jvm, python := executor("services/Executor.java"), executor("services/executor.py")
	flow := func(name string, calls int) plan { return plan{cpu: 100, calls: calls, delay: 4000, flow: name} }
	return []scenario{
		{name: "own thread", runtime: jvm, plan: flow("direct", 2), rate: 100, recall: 0.98},
		{name: "one on executor", runtime: jvm, plan: flow("fan", 1), workers: 1, recall: 0.9},
		{name: "fan of 4, one at once", runtime: jvm, plan: flow("fan", 4), workers: 1, recall: 0.9},
		{name: "fan of 4", runtime: jvm, plan: flow("fan", 4), rate: 60, recall: 0.6},
		{name: "fan of 8, small executor", runtime: jvm, env: []string{"POOL=4"}, plan: flow("fan", 8), rate: 60, recall: 0.5},
		{name: "fan of 4, 64 at once", runtime: jvm, env: []string{"POOL=16"}, plan: flow("fan", 4), workers: 64},
		{name: "mixed", runtime: jvm, plan: flow("mixed", 6), rate: 60},
		{name: "chain of 3", runtime: jvm, plan: flow("chain", 3), rate: 60},
		{name: "async, 16 at once", runtime: jvm, plan: flow("async", 2), workers: 16, recall: 0.9},
		{name: "threads", runtime: jvm, plan: flow("threads", 3), rate: 60, recall: 0.7},
		{name: "fan of 4", runtime: python, plan: flow("fan", 4), rate: 40, recall: 0.6},
		{name: "fan of 2, 64 at once", runtime: python, plan: flow("fan", 2), workers: 64},
	}
}

// TestHandOffs: calls that other threads make for a request belong to it.
func TestHandOffs(t *testing.T) {
	for _, sc := range handOffs() {
		t.Run(sc.runtime.name+"/"+sc.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string {
				s := newStage(t, sc)
				s.send(sc, time.Second) // warm-up
				file, recorder := s.record()
				sent := s.send(sc, loadFor())
				time.Sleep(settle)
				s.stop(recorder)
				tl := s.build(file)
				score := Compare(tl, s.truth(sent))
				show(t, sc, score)
				return sc.problems(score)
			})
		})
	}
}
