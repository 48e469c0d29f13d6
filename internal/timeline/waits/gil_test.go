package waits

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A word belongs to the interpreter's lock if most stacks of waits there show that lock: one of them may have been
// taken at another wait.
func TestOneStackMakesNoInterpreterLock(t *testing.T) {
	const lock, queue = 0x1000, 0x9000
	tl := &timeline.Timeline{Strands: []timeline.Strand{{Process: 1}}}
	at := func(word int64, code string) sleepAt {
		return sleepAt{off: facts.NewOff(&recording.Off{Syscall: "futex", Arg: word}), verdict: verdict{code: code}}
	}
	all := []sleepAt{
		at(lock, "py-gil"), at(lock, "py-gil"), at(lock, "idle"), at(lock, ""),
		at(queue, "idle"), at(queue, "idle"), at(queue, "py-gil"),
	}
	g := GILWords{words: map[recording.ProcessID][]int64{}, seen: map[recording.ProcessID]bool{}}
	g.learn(all, tl)
	if !g.has(1, lock) || g.has(1, queue) || !g.seen[1] {
		t.Errorf("words of the lock: %#x, want %#x alone", g.words[1], lock)
	}
}
