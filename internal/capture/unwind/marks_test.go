//go:build linux && (amd64 || arm64)

package unwind

import (
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

const process, thread = 10, 11

// announced returns marks of one thread, taken at the given times in seconds on CPU 1.
func announced(seconds ...uint64) *marks {
	m := newMarks()
	for _, s := range seconds {
		m.pending[thread] = append(m.pending[thread], momentsStackMark{Ts: s * 1e9, Tid: thread, Tgid: process, Cpu: 1})
	}
	return m
}

// Each stack belongs to its thread's last mark before it; a mark that is skipped was lost.
func TestAStackBelongsToTheMarkBeforeIt(t *testing.T) {
	m := announced(1, 2, 3)
	m.ready(process)
	found, ok := m.take(process, thread, 2.5e9)
	if !ok || found.Ts != 2e9 {
		t.Fatalf("found the mark at %d, %v; want that at 2 s", found.Ts, ok)
	}
	if _, ok := m.take(process, thread, 2.6e9); ok {
		t.Error("a mark served two stacks")
	}
	lost, early := m.expire(0)
	if early != 0 || len(lost) != 1 || lost[0] != (Lost{CPU: 1, Count: 2, First: 1e9, Last: 3e9}) {
		t.Errorf("lost %+v and %d early; want those at 1 s and 3 s", lost, early)
	}
}

// Stacks requested before the profiler knew the process are not lost: they were never walked.
func TestMarksOfAProcessThatIsNotKnownYet(t *testing.T) {
	m := announced(1, 2)
	if m.any() {
		t.Error("a stack of an unknown process is waited for")
	}
	if lost, early := m.expire(0); early != 2 || len(lost) != 0 {
		t.Errorf("lost %+v and %d early; want 2 early", lost, early)
	}
}

func TestAStackWithoutMark(t *testing.T) {
	m := announced(5)
	for name, at := range map[string]struct {
		pid, tid libpf.PID
		time     int64
	}{
		"before it":                   {process, thread, 4e9},
		"of another thread":           {process, thread + 1, 6e9},
		"of an earlier user's number": {process + 1, thread, 6e9},
	} {
		if found, ok := m.take(at.pid, at.tid, at.time); ok {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}
