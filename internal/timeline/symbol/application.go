package symbol

import (
	"strconv"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Application reports whether a frame belongs to the service's own code: not to its runtime, the standard library or a
// package that it brought along, as far as names and paths show.
func Application(f recording.Frame) bool {
	if f.Type == recording.FrameGo && f.Module != "" { // the program's own module, wherever it was built
		if _, within, ok := strings.Cut(f.File, f.Module); ok {
			f.File = within
		}
	}
	if !Managed(f) || !OwnCode(f) || containsAny(f.File, packagePaths) {
		return false
	}
	switch f.Type {
	case recording.FrameGo:
		return !standardGo(f) && !moduleVersion(f.File) && !goWrapper(f.Function)
	case recording.FrameJVM:
		return !jvmLibrary(Plain(f)) && !madeUp(Plain(f))
	case recording.FramePython:
		return !moduleBody(f) && !generated(f.File)
	}
	return !moduleBody(f)
}

// moduleBody reports whether a frame is the body of a program or module. A body runs once, and in the main program it
// then encloses everything that serves. It shows which program this is, not what a request does.
func moduleBody(f recording.Frame) bool {
	switch Plain(f) {
	case "<module>", "<main>", "<top (required)>":
		return f.Type == recording.FramePython || f.Type == recording.FrameRuby
	}
	return false
}

// Brought reports whether a frame belongs to a package that the service brought along: neither to its own code nor to
// its runtime or the standard library.
func Brought(f recording.Frame) bool {
	return Managed(f) && OwnCode(f) && !Application(f) && (f.Type != recording.FrameGo || !standardGo(f) && !goWrapper(f.Function))
}

// madeUp reports whether a method belongs to a generated class: that of a lambda or method reference, which calls
// written code, or a proxy.
func madeUp(name string) bool {
	return containsAny(name, []string{"$$Lambda", "$$EnhancerBy", "$$FastClassBy", "$$SpringCGLIB", ".$Proxy"})
}

// generated reports whether a file name belongs to a Python function that a package made from text, as SQLAlchemy and
// attrs do: no real file has such a name. Code given to the interpreter to run (<string>, <stdin>) does not count as
// generated.
func generated(file string) bool {
	return strings.HasPrefix(file, "<") && file != "<string>" && file != "<stdin>"
}

// packagePaths are parts of the paths at which package managers put what a program uses.
var packagePaths = []string{"/pkg/mod/", "/vendor/", "site-packages/", "dist-packages/", "/node_modules/", "/gems/", "/vendor_ruby/", "<cfunc>"}

// standardGo reports whether a frame belongs to Go's standard library. Its file lies in a directory named like the
// package, under src of the toolchain, or directly if paths are trimmed. An assembly function that only its own file
// calls has no package in its name: its path decides.
func standardGo(f recording.Frame) bool {
	slash := strings.LastIndexByte(f.Function, '/')
	dot := strings.IndexByte(f.Function[slash+1:], '.')
	if slash < 0 && dot < 0 {
		return hasPrefix(f.File, assemblyOfGo) || strings.Contains(f.File, "/src/runtime/") || strings.Contains(f.File, "/src/internal/")
	}
	if dot < 0 || slash > 0 && strings.Contains(f.Function[:strings.IndexByte(f.Function, '/')], ".") {
		return false
	}
	pkg := f.Function[:slash+1+dot]
	return pkg != "main" && (strings.Contains(f.File, "/src/"+pkg+"/") || strings.HasPrefix(f.File, pkg+"/"))
}

// assemblyOfGo are the directories with most of the standard library's assembly, if paths are trimmed.
var assemblyOfGo = []string{"runtime/", "internal/"}

// goWrapper reports whether a function is a wrapper that Go's compiler makes for a go or defer statement with
// arguments.
func goWrapper(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(last, "gowrap") || strings.HasPrefix(last, "deferwrap")
}

// moduleVersion reports whether a path belongs to a file of a module that was not built in place, as -trimpath leaves
// it: "go.etcd.io/bbolt@v1.4.3/cursor.go".
func moduleVersion(path string) bool {
	i := strings.Index(path, "@v")
	return i > 0 && i+2 < len(path) && path[i+2] >= '0' && path[i+2] <= '9'
}

// Place names a frame with its line, "main.(*Cache).Get (cache.go:88)", or with its file if the line is not known.
func Place(f recording.Frame) string {
	name := Name(f)
	switch {
	case f.File == "" || f.Line <= 0 && base(f.File) == name:
		return name
	case f.Line <= 0:
		return name + " (" + base(f.File) + ")"
	}
	return name + " (" + base(f.File) + ":" + strconv.FormatInt(f.Line, 10) + ")"
}

// Walk is what code does to a collection, according to its name.
type Walk int8

// Walks.
const (
	WalkNone  Walk = iota
	WalkStep       // moves to the next item, or searches all of them
	WalkStart      // begins, or moves to one item directly
)

// WalkOf classifies a frame.
func WalkOf(f recording.Frame) Walk {
	name := strings.ReplaceAll(Plain(f), "[...]", "") // type parameters
	for _, r := range walkNames {
		if r.of == f.Type && strings.HasPrefix(name, r.prefix) {
			return r.walk
		}
	}
	of, method := lastTwo(name)
	if f.Type != recording.FrameGo && f.Type != recording.FrameJVM || !isIterator(of) {
		return WalkNone
	}
	switch strings.ToLower(method) {
	case "next", "hasnext", "prev", "previous", "nextnode", "nextentry", "tryadvance", "advance":
		return WalkStep
	case "first", "last", "seek", "init", "<init>", "rewind", "reset":
		return WalkStart
	}
	return WalkNone
}

// walkNames are functions of runtimes that walk through collections.
var walkNames = []struct {
	of     recording.FrameType
	prefix string
	walk   Walk
}{
	{recording.FrameGo, "runtime.mapiternext", WalkStep}, {recording.FrameGo, "runtime.mapIterNext", WalkStep},
	{recording.FrameGo, "runtime.mapiterinit", WalkStart}, {recording.FrameGo, "runtime.mapIterStart", WalkStart},
	{recording.FrameGo, "slices.Contains", WalkStep}, {recording.FrameGo, "slices.Index", WalkStep},
	{recording.FrameJVM, "java.util.ArrayList.indexOf", WalkStep}, {recording.FrameJVM, "java.util.ArrayList.contains", WalkStep},
	{recording.FrameJVM, "java.util.LinkedList.node", WalkStep}, {recording.FrameJVM, "java.util.LinkedList.indexOf", WalkStep},
	{recording.FrameJVM, "java.util.HashMap.containsValue", WalkStep}, {recording.FrameJVM, "java.util.concurrent.CopyOnWriteArrayList.indexOf", WalkStep},
	{recording.FrameNative, "dictiter_iternext", WalkStep}, {recording.FrameNative, "setiter_iternext", WalkStep},
	{recording.FrameNative, "list_contains", WalkStep}, {recording.FrameNative, "list_index", WalkStep},
	{recording.FrameRuby, "Array#include?", WalkStep}, {recording.FrameRuby, "Array#index", WalkStep}, {recording.FrameRuby, "Hash#value?", WalkStep},
}

// isIterator reports whether a type name stands for a position in a collection.
func isIterator(name string) bool {
	return containsAny(name, []string{"Iter", "Itr", "iter", "Cursor", "cursor"})
}

// lastTwo splits off the last two parts of a name: "(*Cursor)" and "Next" for "go.etcd.io/bbolt.(*Cursor).Next".
func lastTwo(name string) (of, method string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name
	}
	of, method = name[:i], name[i+1:]
	return of[strings.LastIndexAny(of, "./")+1:], method
}
