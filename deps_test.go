// Package dwell_test holds the rules that the whole tree keeps: who may import whom
// (this file) and how large things may grow (budgets_test.go). Both parse the source
// themselves, so that nothing is cached.
package dwell_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/getdwell/dwell/"

// room is one row of the table in ARCHITECTURE.md.
type room struct {
	dir     string   // and everything below it, unless a longer row matches
	imports []string // rooms of ours that it may import; with "/..." those below them too; "*" all
	pure    bool     // no Linux, no clock, no goroutines: see impure
}

func rooms() []room {
	return []room{
		{dir: "recording", pure: true},
		{dir: "internal/protocol", imports: []string{"recording"}, pure: true},
		{dir: "internal/capture", imports: []string{"recording", "internal/protocol", "internal/capture/..."}},
		{dir: "internal/timeline", imports: []string{"recording", "internal/timeline/lists", "internal/timeline/symbol"}, pure: true},
		{dir: "internal/timeline/build", imports: []string{"recording", "internal/timeline/..."}, pure: true},
		{dir: "internal/timeline/exchange", imports: []string{"recording", "internal/timeline", "internal/timeline/facts", "internal/timeline/lists", "internal/timeline/peers"}, pure: true},
		{dir: "internal/timeline/facts", imports: []string{"recording", "internal/timeline", "internal/timeline/lists", "internal/timeline/symbol"}, pure: true},
		{dir: "internal/timeline/gocalls", imports: []string{"recording", "internal/timeline", "internal/timeline/causality", "internal/timeline/exchange", "internal/timeline/facts", "internal/timeline/running", "internal/timeline/waits"}, pure: true},
		{dir: "internal/timeline/handoffs", imports: []string{"recording", "internal/timeline", "internal/timeline/causality", "internal/timeline/exchange", "internal/timeline/facts", "internal/timeline/lists"}, pure: true},
		{dir: "internal/timeline/loopcalls", imports: []string{"recording", "internal/timeline", "internal/timeline/causality", "internal/timeline/exchange", "internal/timeline/facts", "internal/timeline/lists", "internal/timeline/loops"}, pure: true},
		{dir: "internal/timeline/loops", imports: []string{"recording", "internal/timeline", "internal/timeline/causality", "internal/timeline/exchange", "internal/timeline/facts", "internal/timeline/lists"}, pure: true},
		{dir: "internal/timeline/peers", imports: []string{"recording", "internal/timeline"}, pure: true},
		{dir: "internal/timeline/lists", imports: []string{"recording"}, pure: true},
		{dir: "internal/timeline/running", imports: []string{"recording", "internal/timeline", "internal/timeline/facts"}, pure: true},
		{dir: "internal/timeline/segments", imports: []string{"recording", "internal/timeline", "internal/timeline/exchange", "internal/timeline/facts", "internal/timeline/lists", "internal/timeline/loops", "internal/timeline/running"}, pure: true},
		{dir: "internal/timeline/symbol", imports: []string{"recording"}, pure: true},
		{dir: "internal/timeline/causality", imports: []string{"recording"}, pure: true},
		{dir: "internal/timeline/waits", imports: []string{"recording", "internal/timeline", "internal/timeline/facts", "internal/timeline/lists", "internal/timeline/symbol"}, pure: true},
		{dir: "internal/diagnosis", imports: []string{"recording", "internal/timeline", "internal/timeline/lists", "internal/timeline/symbol"}, pure: true},
		{dir: "internal/queueing", imports: []string{"recording"}, pure: true},
		{dir: "internal/hypotheses", imports: []string{"recording", "internal/timeline", "internal/timeline/peers", "internal/timeline/symbol", "internal/diagnosis", "internal/queueing"}, pure: true},
		{dir: "internal/report", imports: []string{"recording", "internal/timeline", "internal/timeline/symbol", "internal/timeline/waits", "internal/diagnosis"}, pure: true},
		{dir: "internal/web", imports: []string{"recording", "internal/report"}},
		{dir: "internal/demo"},
		{dir: "internal/load", imports: []string{"internal/load"}},
		{dir: "internal/lab", imports: []string{"recording"}},
		{dir: "internal/lab/score", imports: []string{"recording", "internal/timeline", "internal/timeline/build", "internal/diagnosis", "internal/hypotheses", "internal/lab"}},
		{dir: "internal/lab/run", imports: []string{"*"}},
		{dir: "internal/torture", imports: []string{"recording"}, pure: true},
		{dir: "internal/truth", imports: []string{"*"}},
		{dir: "cases", imports: []string{"*"}},
		{dir: "cmd/dwell", imports: []string{"*"}},
	}
}

// owners are packages of others that only the named rooms may import.
func owners() map[string][]string {
	return map[string][]string{
		"github.com/cilium/ebpf":                        {"internal/capture"}, // the kernel is capture's alone
		"kernel.org/pub/linux/libs/security/libcap/cap": {"internal/capture"}, // rights
		"github.com/landlock-lsm/go-landlock":           {"internal/capture"}, // so is what is confined
		"go.opentelemetry.io/ebpf-profiler":             {"internal/capture/unwind"},
		"go.etcd.io/bbolt":                              {"internal/demo", "cases/surround-vote"}, // a database to ask, not one of ours
		"github.com/spf13/cobra":                        {"cmd/dwell"},                            // flags are read in one place
		"golang.org/x/term":                             {"cmd/dwell"},                            // so is the terminal
		"os/exec":                                       {"cmd/dwell", "internal/demo", "internal/truth", "cases"},
	}
}

// impure is why a pure room may not import a package: the analysis of a recording
// must give the same result on every machine, every time.
func impure() map[string]string {
	return map[string]string{
		"os":        "reads this machine",
		"net":       "talks to others (net/netip is fine)",
		"log":       "only the command prints",
		"sync":      "needs goroutines",
		"syscall":   "knows one operating system",
		"unsafe":    "knows one architecture",
		"math/rand": "is not deterministic",
		"runtime":   "depends on this machine",
	}
}

// source is one parsed Go file of the tree.
type source struct {
	path  string // slash-separated, from the root
	file  *ast.File
	fset  *token.FileSet
	lines int
	text  string
}

func (s *source) test() bool      { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) generated() bool { return ast.IsGenerated(s.file) }
func (s *source) line(p token.Pos) int {
	return s.fset.Position(p).Line
}

// sources parses every Go file that git would commit, testdata excepted.
func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	fset := token.NewFileSet()
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := path.Base(name)
			if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "work" || base == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, data, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, &source{path: name, file: file, fset: fset, text: string(data), lines: strings.Count(string(data), "\n")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// roomOf returns the longest row that holds dir.
func roomOf(dir string) (room, bool) {
	var found room
	for _, r := range rooms() {
		if under(dir, r.dir) && len(r.dir) > len(found.dir) {
			found = r
		}
	}
	return found, found.dir != ""
}

func under(dir, of string) bool { return dir == of || strings.HasPrefix(dir, of+"/") }

// mayImport reports whether a room may import a package of ours: its own, or one of a room that
// its row names.
func mayImport(r room, ours string) bool {
	of, _ := roomOf(ours)
	return of.dir == r.dir || slices.ContainsFunc(r.imports, func(name string) bool {
		all, below := strings.CutSuffix(name, "/...")
		return name == "*" || name == of.dir || below && under(of.dir, all)
	})
}

func allowed(dir string, list []string) bool {
	return slices.ContainsFunc(list, func(r string) bool { return under(dir, r) })
}

func imports(s *source) []string {
	var list []string
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			list = append(list, name)
		}
	}
	return list
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if dir == "." || s.test() {
			continue
		}
		r, ok := roomOf(dir)
		if !ok {
			t.Errorf("%s: its directory is no room; add it here and to the table in ARCHITECTURE.md", s.path)
			continue
		}
		for _, name := range imports(s) {
			ours, isOurs := strings.CutPrefix(name, module)
			if isOurs && !mayImport(r, ours) {
				t.Errorf("%s: %s may not import %s", s.path, r.dir, ours)
			}
			if isOurs && under(ours, "cmd") {
				t.Errorf("%s: nothing imports the command", s.path)
			}
			for owned, by := range owners() {
				if under(name, owned) && !allowed(dir, by) {
					t.Errorf("%s: only %s may import %s", s.path, strings.Join(by, ", "), owned)
				}
			}
		}
	}
}

func TestTheTableOfRoomsIsInTheArchitecture(t *testing.T) {
	data, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rooms() {
		if !strings.Contains(string(data), "| `"+r.dir+"/` |") {
			t.Errorf("ARCHITECTURE.md has no row for %s", r.dir)
		}
	}
}

func TestPureRoomsAreDeterministic(t *testing.T) {
	for _, s := range sources(t) {
		r, _ := roomOf(path.Dir(s.path))
		if !r.pure || s.test() {
			continue
		}
		for _, name := range imports(s) {
			for bad, why := range impure() {
				if under(name, bad) && name != "net/netip" {
					t.Errorf("%s: a pure room may not import %s, which %s", s.path, name, why)
				}
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && isClock(sel) {
				t.Errorf("%s:%d: a pure room may not ask for the time (time.%s)", s.path, s.line(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

func isClock(sel *ast.SelectorExpr) bool {
	pkg, ok := sel.X.(*ast.Ident)
	clocks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	return ok && pkg.Name == "time" && slices.Contains(clocks, sel.Sel.Name)
}

func TestOnlyTheDoorsStartGoroutines(t *testing.T) {
	doors := []string{"internal/capture", "internal/demo", "internal/load", "internal/truth", "cases", "cmd"}
	for _, s := range sources(t) {
		if s.test() || allowed(path.Dir(s.path), doors) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s:%d: starts a goroutine; only %s may", s.path, s.line(g.Pos()), strings.Join(doors, ", "))
			}
			return true
		})
	}
}

// Executables are the target's, and debug/elf believes what they say of their sizes.
func TestOneReaderOfExecutables(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || under(path.Dir(s.path), "internal/capture/elffile") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			opens := ok && pkg.Name == "elf" && (sel.Sel.Name == "Open" || sel.Sel.Name == "NewFile") || ok && pkg.Name == "buildinfo" && sel.Sel.Name == "ReadFile"
			reads := slices.Contains([]string{"DynamicSymbols", "ImportedLibraries", "ImportedSymbols", "DWARF"}, sel.Sel.Name) && (!ok || pkg.Name != "elffile")
			if opens || reads {
				t.Errorf("%s:%d: %s: internal/capture/elffile does that within bounds", s.path, s.line(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}
