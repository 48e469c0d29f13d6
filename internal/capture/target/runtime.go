package target

import (
	"debug/elf"
	"errors"
	"path"
	"regexp"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/recording"
)

// A runtimeSign identifies a language runtime by the name of an executable, of a library that it maps, or of a symbol
// that it exports.
type runtimeSign struct {
	runtime recording.Runtime
	exe     string // regular expression for the whole base name
	library string // prefix of the base name of a mapped file
	symbol  string // exported by an executable with the runtime linked in
}

// runtimeSigns is in order of precedence: a JVM or Node may have loaded a Python or Ruby library, but the reverse is
// unlikely.
func runtimeSigns() []runtimeSign {
	return []runtimeSign{
		{recording.RuntimeJVM, `java`, "libjvm.so", "JVM_GetInterfaceVersion"},
		{recording.RuntimeNode, `node(js)?`, "libnode.so", "node_module_register"},
		{recording.RuntimeRuby, `(j|truffle)?ruby[0-9.]*`, "libruby", "ruby_init"},
		{recording.RuntimePython, `(python|pypy)[0-9.]*`, "libpython", "Py_BytesMain"},
	}
}

// detectRuntime determines the language runtime of a process; RuntimeNative if nothing indicates another one. It
// returns an error if the executable is beyond the size limits or its file system does not answer.
func (f *Files) detectRuntime(pid int, exe string, file CodeFile) (recording.Runtime, error) {
	// This comes first, because a Go program may have any name.
	golang, err := recall(f, file, "is it of Go", func(file *elf.File) (bool, error) { return file.Section(".go.buildinfo") != nil, nil })
	if err != nil {
		return runtimeByName(exe), unread(err)
	}
	if golang {
		return recording.RuntimeGo, nil
	}
	if r := runtimeByName(exe); r != recording.RuntimeNative {
		return r, nil
	}
	if maps, err := procfs.ReadFile(procPath(pid, "maps")); err == nil {
		if r := runtimeByLibrary(string(maps)); r != recording.RuntimeNative {
			return r, nil
		}
	}
	return recall(f, file, "what runtime is linked in", runtimeBySymbol)
}

// unread returns err if it means that a file is beyond the size limits or was not delivered.
func unread(err error) error {
	if errors.Is(err, elffile.ErrTooLarge) || elffile.Unanswered(err) {
		return err
	}
	return nil
}

func runtimeByName(exe string) recording.Runtime {
	for _, sign := range runtimeSigns() {
		if regexp.MustCompile(`^(` + sign.exe + `)$`).MatchString(exe) {
			return sign.runtime
		}
	}
	return recording.RuntimeNative
}

// runtimeByLibrary searches the text of /proc/PID/maps.
func runtimeByLibrary(maps string) recording.Runtime {
	mapped := map[string]bool{}
	for line := range strings.Lines(maps) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			mapped[path.Base(strings.TrimSpace(line[at:]))] = true
		}
	}
	for _, sign := range runtimeSigns() {
		for name := range mapped {
			if strings.HasPrefix(name, sign.library) {
				return sign.runtime
			}
		}
	}
	return recording.RuntimeNative
}

// runtimeBySymbol finds runtimes linked into an executable with another name, such as uWSGI or a packaged Node
// application.
func runtimeBySymbol(file *elf.File) (recording.Runtime, error) {
	symbols, err := elffile.DynamicSymbols(file)
	if err != nil {
		return recording.RuntimeNative, unread(err)
	}
	exported := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			exported[s.Name] = true
		}
	}
	for _, sign := range runtimeSigns() {
		if exported[sign.symbol] {
			return sign.runtime, nil
		}
	}
	return recording.RuntimeNative, nil
}
