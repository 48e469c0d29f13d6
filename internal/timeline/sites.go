package timeline

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

// SiteOf returns the frame that best names the place of a wait: the innermost one of
// the application; else of a library it brought along; else the innermost outside of
// what implements locks. False if the stack has no frame.
func (t *Timeline) SiteOf(id StackID) (recording.Frame, bool) {
	f := t.frameOf(id, isApplication)
	if f == None {
		f = t.siteFrame(id)
	}
	if f == None {
		return recording.Frame{}, false
	}
	return t.Frames[f], true
}

// siteFrame returns the innermost frame beyond the runtime, libraries included: what
// tells a pool or a queue from others, whoever in the application turns to it.
func (t *Timeline) siteFrame(id StackID) FrameID {
	if f := t.frameOf(id, isOwnCode); f != None {
		return f
	}
	return t.frameOf(id, isBeyondLocks)
}

// nativeSite returns the innermost frame that is not of the C library.
func (t *Timeline) nativeSite(id StackID) FrameID {
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		f := t.Stacks[id].Frame
		x := &t.Frames[f]
		if x.Type == recording.FrameKernel || x.Type == recording.FrameNative && (isCLibrary(x.Module) || hasPrefix(plainName(*x), lockLibrary[x.Type])) {
			continue
		}
		return f
	}
	return None
}

// LockSite returns the frame that takes the lock a stack waits for: the innermost
// outside of what implements locks, of the runtime's own library too. False if the
// stack has none.
func (t *Timeline) LockSite(id StackID) (recording.Frame, bool) {
	if f := t.frameOf(id, isBeyondLocks); f != None {
		return t.Frames[f], true
	}
	return recording.Frame{}, false
}

// frameKind is what is asked again and again about a frame: a set of the bits below.
type frameKind uint8

const (
	isManaged     frameKind = 1 << iota // see managed
	isApplication                       // see Application
	isOwnCode                           // see ownCode
	isBeyondLocks                       // see beyondLocks
)

func kindOf(f recording.Frame) (k frameKind) {
	for i, is := range [...]func(recording.Frame) bool{managed, Application, ownCode, beyondLocks} {
		if is(f) {
			k |= 1 << i
		}
	}
	return k
}

// is reports whether a frame is of a kind. They are known beforehand in a timeline that
// was built, as opposed to one that was put together.
func (t *Timeline) is(f FrameID, of frameKind) bool {
	if int(f) < len(t.frameKinds) {
		return t.frameKinds[f]&of != 0
	}
	return kindOf(t.Frames[f])&of != 0
}

// frameOf returns the innermost frame of a kind, of those of a managed runtime if
// the stack has any; None if there is none.
func (t *Timeline) frameOf(id StackID, of frameKind) FrameID {
	best := FrameID(None)
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		f := t.Stacks[id].Frame
		if !t.is(f, of) {
			continue
		}
		if t.is(f, isManaged) {
			return f
		}
		if best == None {
			best = f
		}
	}
	return best
}

// managed reports a frame of a language runtime, as against one of machine code whose
// source language is not known.
func managed(f recording.Frame) bool {
	switch f.Type {
	case recording.FrameGo, recording.FrameJVM, recording.FramePython, recording.FrameRuby, recording.FrameV8:
		return true
	}
	return false
}

// ownCode reports a frame that is not of a runtime or its standard library.
func ownCode(f recording.Frame) bool {
	return beyondLocks(f) && !hasPrefix(plainName(f), standardLibrary[f.Type]) && !ofFiles(f.File, standardFiles[f.Type])
}

// beyondLocks reports a frame that is not part of what implements locks, queues and
// waiting.
func beyondLocks(f recording.Frame) bool {
	if f.Type == recording.FrameKernel || f.Type == recording.FrameNative && isSystemLibrary(f.Module) {
		return false
	}
	if f.Type == recording.FrameJVM && isStub(plainName(f)) {
		return false
	}
	return !hasPrefix(plainName(f), lockLibrary[f.Type]) && !ofFiles(f.File, lockFiles[f.Type])
}

// lockLibrary holds, by type of frame, how the names of functions begin that implement
// locks, conditions, queues and futures.
var lockLibrary = map[recording.FrameType][]string{
	recording.FrameJVM: {
		"_complete_monitor_locking", "monitorenter", "StubRoutines", "java.lang.Object.wait", "java.lang.Thread.sleep", "java.lang.Thread.join", "java.lang.Thread.park", "java.lang.Thread.yield",
		"java.lang.VirtualThread.", "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.", "jdk.internal.vm.", "sun.misc.Unsafe.",
	},
	recording.FrameNative: {
		"__lll_", "___pthread_", "__pthread_", "pthread_", "__futex", "futex", "__GI_", "sem_", "__new_sem_", "do_futex_wait", "syscall", "__syscall",
		"std::mutex", "std::condition_variable", "uv_mutex_", "uv_cond_", "uv_sem_", "take_gil", "drop_gil", "Mutex::", "Monitor::", "MutexLocker", "PlatformMutex", "PlatformMonitor", "ParkEvent", "Parker",
	},
	recording.FrameGo: {
		"runtime.", "internal/runtime", "internal/sync.", "sync.",
	},
	recording.FrameRuby: {"Thread::Mutex#", "Thread::Queue#", "Thread::SizedQueue#", "Thread::ConditionVariable#", "Monitor#", "MonitorMixin", "Thread#", "Thread.", "Kernel#sleep"},
}

// lockFiles holds the files of such functions, where names do not tell.
var lockFiles = map[recording.FrameType][]string{
	recording.FramePython: {"/threading.py", "/queue.py", "/concurrent/futures/", "/asyncio/locks.py", "/asyncio/queues.py", "/multiprocessing/synchronize.py"},
	recording.FrameRuby:   {"/monitor.rb", "/thread.rb"},
}

// standardLibrary holds, by type of frame, how the names of functions begin that come
// with the runtime.
var standardLibrary = map[recording.FrameType][]string{
	recording.FrameJVM: {"java.", "javax.", "jdk.", "sun.", "com.sun."},
	recording.FrameV8:  {"V8::"}, // frames by which V8 goes over to machine code: no function of anybody
	recording.FrameGo:  {"runtime.", "sync.", "internal/", "net.", "net/", "io.", "bufio.", "os.", "crypto/", "encoding/", "time.", "context.", "reflect.", "syscall.", "poll."},
}

// standardFiles holds where the files of such functions lie: within a directory, or
// with a prefix such as "node:".
var standardFiles = map[recording.FrameType][]string{
	recording.FramePython: {"/lib/python", "<frozen"},
	recording.FrameV8:     {"node:", "<unknown>"}, // of no script: V8's own, such as Map.prototype.set
	recording.FrameRuby:   {"/lib/ruby/3", "/lib/ruby/2", "<internal:", "<cfunc>"},
}

// ofFiles reports a path that holds one of some parts. Packages installed beside the
// standard library are not part of it.
func ofFiles(path string, parts []string) bool {
	if path == "" || strings.Contains(path, "site-packages/") || strings.Contains(path, "dist-packages/") || strings.Contains(path, "/gems/") {
		return false
	}
	for _, p := range parts {
		if strings.Contains(path, p) {
			return true
		}
	}
	return false
}

// isStub reports the name of code that HotSpot generates for itself: it is no method.
func isStub(name string) bool { return strings.Contains(name, " ") || !strings.Contains(name, ".") }

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isSystemLibrary reports libraries that only carry out what a program asked for.
func isSystemLibrary(module string) bool {
	return module == "libjvm.so" || isCLibrary(module)
}

func isCLibrary(module string) bool {
	return hasPrefix(module, []string{"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "[vdso]", "vdso"})
}
