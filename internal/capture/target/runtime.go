package target

import (
	"debug/elf"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// A runtimeSign tells one language runtime by the name of an executable, of a
// library it maps, or of a symbol it exports.
type runtimeSign struct {
	runtime recording.Runtime
	exe     string // regular expression for the whole base name
	library string // prefix of the base name of a mapped file
	symbol  string // exported by an executable with the runtime linked in
}

// runtimeSigns is in order of precedence: a JVM or Node may have a Python or Ruby
// library loaded, hardly the other way round.
func runtimeSigns() []runtimeSign {
	return []runtimeSign{
		{recording.RuntimeJVM, `java`, "libjvm.so", "JVM_GetInterfaceVersion"},
		{recording.RuntimeNode, `node(js)?`, "libnode.so", "node_module_register"},
		{recording.RuntimeRuby, `(j|truffle)?ruby[0-9.]*`, "libruby", "ruby_init"},
		{recording.RuntimePython, `(python|pypy)[0-9.]*`, "libpython", "Py_BytesMain"},
	}
}

// detectRuntime tells the language runtime of a process; RuntimeNative where nothing
// says otherwise, or nothing can be read.
func detectRuntime(pid int, exe string) recording.Runtime {
	file, err := elf.Open(procPath(pid, "exe"))
	if err != nil {
		return runtimeByName(exe)
	}
	defer file.Close()
	// First, for a Go program may be called anything: its name means nothing.
	if file.Section(".go.buildinfo") != nil {
		return recording.RuntimeGo
	}
	if r := runtimeByName(exe); r != recording.RuntimeNative {
		return r
	}
	if maps, err := os.ReadFile(procPath(pid, "maps")); err == nil {
		if r := runtimeByLibrary(string(maps)); r != recording.RuntimeNative {
			return r
		}
	}
	return runtimeBySymbol(file)
}

func runtimeByName(exe string) recording.Runtime {
	for _, sign := range runtimeSigns() {
		if regexp.MustCompile(`^(` + sign.exe + `)$`).MatchString(exe) {
			return sign.runtime
		}
	}
	return recording.RuntimeNative
}

// runtimeByLibrary looks through the text of /proc/PID/maps.
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

// runtimeBySymbol finds runtimes linked into an executable of another name, as in
// uWSGI or a packaged Node application.
func runtimeBySymbol(file *elf.File) recording.Runtime {
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return recording.RuntimeNative
	}
	exported := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			exported[s.Name] = true
		}
	}
	for _, sign := range runtimeSigns() {
		if exported[sign.symbol] {
			return sign.runtime
		}
	}
	return recording.RuntimeNative
}
