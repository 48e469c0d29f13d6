package target

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// rubyBuild is a Ruby that runs on this machine, as far as stacks depend on it.
type rubyBuild struct {
	version  string // such as "3.1.2"; "" unknown
	stripped bool   // without the symbols that only debuggers and profilers need
	exported bool   // it exports the variable with the current thread's state
}

// walkable reports whether its Ruby frames can be found.
func (r rubyBuild) walkable() bool { return r.version != "" && (!r.stripped || r.exported) }

func (r rubyBuild) String() string {
	switch {
	case r.version == "":
		return "a Ruby that cannot be read: only the frames of the interpreter itself"
	case !r.walkable():
		return fmt.Sprintf("Ruby %s is stripped and hides where it keeps what a thread runs: only the frames of the interpreter itself", r.version)
	}
	what := "methods with class, file and line"
	if strings.HasPrefix(r.version, "2.") || strings.HasPrefix(r.version, "3.0.") || strings.HasPrefix(r.version, "3.2.") {
		what = "methods with file and line, without their classes"
	}
	if r.stripped {
		return fmt.Sprintf("Ruby %s (stripped): %s", r.version, what)
	}
	return fmt.Sprintf("Ruby %s: %s", r.version, what)
}

// rubyRemedy is the remedy for a Ruby whose frames are not found.
const rubyRemedy = "run a Ruby that is not stripped, as ruby-build makes it; its waits and calls are recorded as ever"

// checkRuby reports what stacks the running Rubies get.
func checkRuby(found []rubyBuild) []Check {
	count := map[string]int{}
	whole := map[string]bool{}
	for _, r := range found {
		count[r.String()]++
		whole[r.String()] = r.walkable()
	}
	var checks []Check
	for _, text := range slices.Sorted(maps.Keys(count)) {
		checks = append(checks, check("stacks of Ruby", whole[text], fmt.Sprintf("%d running: %s", count[text], text), rubyRemedy))
	}
	return checks
}

var rubyFile = regexp.MustCompile(`^(libruby.*\.so[0-9.]*|ruby[0-9.]*)$`)

// lookAtRuby examines the Ruby that a process has mapped.
func lookAtRuby(pid int) rubyBuild {
	maps, err := procfs.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return rubyBuild{}
	}
	for _, m := range parseMaps(string(maps)) {
		if !rubyFile.MatchString(path.Base(m.name)) {
			continue
		}
		code, err := mappedFile(pid, m)
		if err != nil {
			continue
		}
		file, opened, err := code.openELF()
		if err != nil {
			continue
		}
		build := readRuby(file)
		opened.Close()
		if build.version != "" {
			return build
		}
	}
	return rubyBuild{}
}

func readRuby(file *elf.File) rubyBuild {
	build := rubyBuild{stripped: file.Section(".symtab") == nil}
	symbols, err := elffile.DynamicSymbols(file)
	if err != nil {
		return build
	}
	for _, s := range symbols {
		switch s.Name {
		case "ruby_version":
			build.version = textAt(file, s.Value)
		case "ruby_current_ec":
			build.exported = build.exported || s.Section != elf.SHN_UNDEF
		}
	}
	return build
}

// textAt reads a short string of a file by its address in memory.
func textAt(file *elf.File, address uint64) string {
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD || address < p.Vaddr || address >= p.Vaddr+p.Filesz {
			continue
		}
		text := make([]byte, min(16, p.Vaddr+p.Filesz-address))
		if _, err := p.ReadAt(text, int64(address-p.Vaddr)); err != nil {
			return ""
		}
		text, _, _ = bytes.Cut(text, []byte{0})
		return string(text)
	}
	return ""
}
