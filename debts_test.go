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
	return map[string]int{}
}

// fieldDebts are structs with more fields.
func fieldDebts() map[string]int {
	return map[string]int{}
}

// fileDebts are packages of more files.
func fileDebts() map[string]int {
	return map[string]int{}
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
