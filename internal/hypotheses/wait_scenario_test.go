package hypotheses

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// code declares stacks; a stack is its functions, innermost first, separated by " < ".
// A function that begins with "native " is machine code.
type code struct {
	frames map[string]recording.FrameID
	stacks map[string]recording.StackID
}

const stackHooks = "arrivals async dns host io late processes sched sockets stacks tls"

// stack declares a stack in the scenario's language.
func (s *scenario) stack(path string) recording.StackID {
	if s.code.stacks == nil {
		s.code = code{map[string]recording.FrameID{}, map[string]recording.StackID{}}
	}
	if path == "" {
		return recording.NoStack
	}
	if id, ok := s.code.stacks[path]; ok {
		return id
	}
	name, rest, _ := strings.Cut(path, " < ")
	caller := s.stack(rest)
	frame, ok := s.code.frames[name]
	if !ok {
		frame = recording.FrameID(len(s.code.frames) + 1)
		s.code.frames[name] = frame
		s.add(us, s.frame(frame, name))
	}
	id := recording.StackID(len(s.code.stacks) + 1)
	s.code.stacks[path] = id
	s.add(us, &recording.Stack{ID: id, Caller: caller, Frame: frame})
	return id
}

func (s *scenario) frame(id recording.FrameID, name string) *recording.Frame {
	if native, ok := strings.CutPrefix(name, "native "); ok {
		return &recording.Frame{ID: id, Type: recording.FrameNative, Function: native, Module: map[recording.Runtime]string{
			recording.RuntimeJVM: "libjvm.so", recording.RuntimePython: "python3.11"}[s.runtime]}
	}
	if kind, ok := map[recording.Runtime]recording.FrameType{recording.RuntimePython: recording.FramePython, recording.RuntimeRuby: recording.FrameRuby, recording.RuntimeNode: recording.FrameV8}[s.runtime]; ok {
		file, function, _ := strings.Cut(name, ":")
		return &recording.Frame{ID: id, Type: kind, Function: function, File: file, Line: 40 + int64(id)}
	}
	return &recording.Frame{ID: id, Type: recording.FrameJVM, Function: name, Line: 40 + int64(id)}
}

// computeIn makes the thread compute in some code; every other millisecond is sampled.
func (t *thread) computeIn(d recording.Time, path string) {
	id := t.stack(path)
	for at := 500 * us; at < d; at += 2000 * us {
		t.add(t.at+at, &recording.StackAt{Thread: t.id, Stack: id, Origin: recording.StackOnCPU})
	}
	t.compute(d)
}

// blocked makes the thread wait in a syscall in some code, as sleep does.
func (t *thread) blocked(until, ready recording.Time, syscall, path string) *recording.Off {
	if path != "" {
		t.add(t.at+4*us, &recording.StackAt{Thread: t.id, Stack: t.stack(path), Origin: recording.StackBlocked})
	}
	t.sleep(until, ready, syscall)
	return t.events[len(t.events)-1].Fact.(*recording.Off)
}

// mutex is a lock that threads take in the order in which they are played.
type mutex struct {
	free   recording.Time // when it was given back
	holder *thread
}

// enter takes the lock in some code; the thread that has it wakes it.
func (t *thread) enter(m *mutex, path string) {
	if m.holder != nil && m.free > t.at {
		off := t.blocked(m.free, 20*us, "futex", path)
		off.Arg, off.SP = 0x7000+64*int64(t.id), 0x9000 // the JVM parks each thread on a word of its own
		if t.runtime == recording.RuntimePython {
			off.Arg = 0x7000
		}
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, m.holder.id, 1
	}
	m.holder = t
}

// leave gives the lock back.
func (t *thread) leave(m *mutex) { m.free = t.at }

// bursts plays requests that come several at once, each on a thread of its own.
func bursts(s *scenario, threads int, each func(t *thread, burst int)) *scenario {
	return manyBursts(s, requestsPlayed/threads, threads, each)
}

func manyBursts(s *scenario, n, threads int, each func(t *thread, burst int)) *scenario {
	s.hooks = stackHooks
	pool := make([]*thread, threads)
	for i := range pool {
		pool[i] = s.named(recording.ThreadID(i+1), fmt.Sprintf("exec-%d", i+1))
	}
	for b := range n {
		for i, t := range pool {
			t.request(recording.Time(b+1)*100_000*us+recording.Time(i)*50*us, 10*us, "/prices/{}")
			t.compute(200 * us)
			each(t, b)
			t.respond()
		}
	}
	return s
}

// named starts a worker with a name.
func (s *scenario) named(id recording.ThreadID, name string) *thread {
	t := s.worker(id, 1000*us)
	for _, e := range s.events {
		if th, ok := e.Fact.(*recording.Thread); ok && th.ID == id {
			th.Name = name
		}
	}
	return t
}
