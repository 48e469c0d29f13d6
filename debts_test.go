package dwell_test

import (
	"go/ast"
	"path"
	"testing"
)

// The budgets of types and packages. What exceeded them when they were set is a debt: it is
// listed with what it may be at most, and is to fall, never to grow.
const (
	maxTypeMethods  = 25
	maxTypeFields   = 15
	maxPackageFiles = 40
)

// methodDebts are types with more methods.
func methodDebts() map[string]int {
	return map[string]int{
		"internal/capture.Session":              147,
		"internal/capture.decoder":              84,
		"internal/diagnosis.judge":              58,
		"internal/hypotheses.contention":        41,
		"internal/hypotheses.station":           34,
		"internal/timeline.Timeline":            59,
		"internal/timeline/loopcalls.asyncWalk": 32,
		"internal/timeline/segments.segmenter":  67,
		"internal/timeline/loopcalls.sharing":   61,
		"internal/timeline/waits.Sleeps":        55,
		"internal/timeline/facts.Facts":         35,
	}
}

// fieldDebts are structs with more fields.
func fieldDebts() map[string]int {
	return map[string]int{
		"cmd/dwell.recordOptions":               21,
		"internal/capture.Session":              49,
		"internal/capture.conn":                 16,
		"internal/capture.decoder":              31,
		"internal/capture.probeSet":             23,
		"internal/capture/target.machine":       16,
		"internal/capture/unwind.stacks":        16,
		"internal/diagnosis.Finding":            16,
		"internal/protocol.dialogue":            25,
		"internal/report.DumpThread":            20,
		"internal/report.Finding":               17,
		"internal/report.WebPage":               20,
		"internal/report.shownCall":             16,
		"internal/timeline.Call":                40,
		"internal/timeline.Conn":                18,
		"internal/timeline.Request":             22,
		"internal/timeline.Timeline":            40,
		"internal/timeline/loopcalls.asyncWalk": 20,
		"internal/timeline/facts.Conn":          17,
		"internal/timeline/facts.Facts":         26,
		"internal/timeline/loopcalls.inTurns":   24,
		"internal/timeline/loops.Move":          17,
		"internal/truth/faults.plan":            17,
		"recording.Off":                         21,
		"recording.validator":                   16,
	}
}

// fileDebts are packages of more files.
func fileDebts() map[string]int {
	return map[string]int{
		"cmd/dwell":               59,
		"internal/capture":        65,
		"internal/capture/target": 41,
		"internal/hypotheses":     101,
		"internal/report":         59,
	}
}

func TestTypesAndPackagesStaySmall(t *testing.T) {
	methods, fields, files := map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test() || s.generated() {
			continue
		}
		dir := path.Dir(s.path)
		files[dir]++
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[dir+"."+receiver(f)]++
			}
			if d, ok := decl.(*ast.GenDecl); ok {
				countFields(d, func(name string, n int) { fields[dir+"."+name] = n })
			}
		}
	}
	within(t, "methods", methods, maxTypeMethods, methodDebts())
	within(t, "fields", fields, maxTypeFields, fieldDebts())
	within(t, "files", files, maxPackageFiles, fileDebts())
}

// within checks that nothing is over the budget but debts, and that no debt has grown or is paid.
func within(t *testing.T, what string, counts map[string]int, budget int, debts map[string]int) {
	t.Helper()
	for name, n := range counts {
		if most := max(budget, debts[name]); n > most {
			t.Errorf("%s has %d %s, more than %d", name, n, what, most)
		}
	}
	for name := range debts {
		if counts[name] <= budget {
			t.Errorf("%s has %d %s, within the budget: it is no debt any more", name, counts[name], what)
		}
	}
}

// receiver is the name of the type that a method is of.
func receiver(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	for {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.IndexListExpr:
			of = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// countFields tells how many fields each struct of a declaration has, embedded ones among them.
func countFields(d *ast.GenDecl, tell func(name string, fields int)) {
	for _, spec := range d.Specs {
		if t, ok := spec.(*ast.TypeSpec); ok {
			if s, ok := t.Type.(*ast.StructType); ok {
				tell(t.Name.Name, s.Fields.NumFields())
			}
		}
	}
}
