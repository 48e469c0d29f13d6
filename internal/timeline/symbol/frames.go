package symbol

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Kind is a set of properties of a frame that are asked for again and again.
type Kind uint8

const (
	IsManaged     Kind = 1 << iota // see Managed
	IsApplication                  // see Application
	IsOwnCode                      // see OwnCode
	IsBeyondLocks                  // see beyondLocks
)

// KindOf returns all kinds that a frame belongs to.
func KindOf(f recording.Frame) (k Kind) {
	for i, is := range [...]func(recording.Frame) bool{Managed, Application, OwnCode, beyondLocks} {
		if is(f) {
			k |= 1 << i
		}
	}
	return k
}

// Managed reports whether a frame belongs to a language runtime, and not to machine code whose source language is not
// known.
func Managed(f recording.Frame) bool {
	switch f.Type {
	case recording.FrameGo, recording.FrameJVM, recording.FramePython, recording.FrameRuby, recording.FrameV8:
		return true
	}
	return false
}

// Glue reports whether a frame stands for no real function, so that its caller says everything: CPython from 3.12 on
// inserts one at each call from C to Python.
func Glue(f recording.Frame) bool { return f.Type == recording.FramePython && f.File == "<shim>" }

// OwnCode reports whether a frame does not belong to a runtime or its standard library.
func OwnCode(f recording.Frame) bool {
	return beyondLocks(f) && !hasPrefix(Plain(f), standardLibrary[f.Type]) && !ofFiles(f.File, standardFiles[f.Type])
}

// beyondLocks reports whether a frame is not part of the implementation of locks, queues and waiting.
func beyondLocks(f recording.Frame) bool {
	if f.Type == recording.FrameKernel || f.Type == recording.FrameNative && (f.Module == "libjvm.so" || isCLibrary(f.Module)) || f.Type == recording.FrameJVM && Stub(Plain(f)) {
		return false
	}
	return !hasPrefix(Plain(f), lockLibrary[f.Type]) && !ofFiles(f.File, lockFiles[f.Type])
}

// lockLibrary holds, by type of frame, the prefixes of functions that implement locks, conditions, queues and futures.
var lockLibrary = map[recording.FrameType][]string{
	recording.FrameJVM: {
		"_complete_monitor_locking", "monitorenter", "StubRoutines", "java.lang.Object.wait", "java.lang.Thread.sleep", "java.lang.Thread.join", "java.lang.Thread.park", "java.lang.Thread.yield",
		"java.lang.VirtualThread.", "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.", "jdk.internal.vm.", "sun.misc.Unsafe.",
	},
	recording.FrameNative: {
		"__lll_", "___pthread_", "__pthread_", "pthread_", "__futex", "futex", "__GI_", "sem_", "__new_sem_", "do_futex_wait", "syscall", "__syscall",
		"std::mutex", "std::condition_variable", "uv_mutex_", "uv_cond_", "uv_sem_", "take_gil", "drop_gil", "Mutex::", "Monitor::", "MutexLocker", "PlatformMutex", "PlatformMonitor", "ParkEvent", "Parker",
		"std::sys::sync::", "<std::sys::sync::", "parking_lot::", "<parking_lot::",
	},
	recording.FrameGo: {
		"runtime.", "internal/runtime", "internal/sync.", "sync.",
	},
	recording.FrameRuby: {"Thread::Mutex#", "Thread::Queue#", "Thread::SizedQueue#", "Thread::ConditionVariable#", "Monitor#", "MonitorMixin", "Thread#", "Thread.", "Kernel#sleep"},
}

// lockFiles holds the files of such functions, if their names are not distinctive.
var lockFiles = map[recording.FrameType][]string{
	recording.FramePython: {"/threading.py", "/queue.py", "/concurrent/futures/", "/asyncio/locks.py", "/asyncio/queues.py", "/multiprocessing/synchronize.py"},
	recording.FrameRuby:   {"/monitor.rb", "/thread.rb"},
}

// standardLibrary holds, by type of frame, the prefixes of functions that come with the runtime.
var standardLibrary = map[recording.FrameType][]string{
	recording.FrameJVM:    {"java.", "javax.", "jdk.", "sun.", "com.sun."},
	recording.FrameV8:     {"V8::"},                                                        // frames by which V8 switches to machine code: no real function
	recording.FrameNative: {"std::", "<std::", "core::", "<core::", "alloc::", "<alloc::"}, // C++ and Rust
	recording.FrameGo:     {"runtime.", "sync.", "internal/", "net.", "net/", "io.", "bufio.", "os.", "crypto/", "encoding/", "time.", "context.", "reflect.", "syscall.", "poll."},
}

// standardFiles holds where the files of such functions lie: within a directory, or with a prefix such as "node:".
var standardFiles = map[recording.FrameType][]string{
	recording.FramePython: {"/lib/python", "<frozen", "<shim>"},
	recording.FrameV8:     {"node:", "<unknown>"}, // in no script: V8's own, such as Map.prototype.set
	recording.FrameRuby:   {"/lib/ruby/3", "/lib/ruby/2", "<internal:", "<cfunc>", "<gc>"},
}

// ofFiles reports whether a path contains one of some parts. Packages installed beside the standard library do not
// count.
func ofFiles(path string, parts []string) bool {
	return containsAny(path, parts) && !containsAny(path, []string{"site-packages/", "dist-packages/", "/gems/"})
}

// NativeLock reports whether a frame is machine code of the C library, or of the implementation of locks.
func NativeLock(f recording.Frame) bool {
	return f.Type == recording.FrameNative && (isCLibrary(f.Module) || hasPrefix(Plain(f), lockLibrary[f.Type]))
}

// Stub reports whether a name is that of code that HotSpot generates for itself: it is no method.
func Stub(name string) bool { return strings.Contains(name, " ") || !strings.Contains(name, ".") }

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
}

// isCLibrary reports whether a library only carries out what a program asked for.
func isCLibrary(module string) bool {
	return hasPrefix(module, []string{"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "[vdso]", "vdso"})
}
