package dwell_test

import (
	"bytes"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// The budgets. A thing that outgrows one is two things.
const (
	maxFile       = 400
	medianFile    = 180
	maxFunction   = 60
	p90Function   = 40
	maxParameters = 4
	maxMethods    = 3
	maxMakefile   = 80
)

func TestFilesStaySmall(t *testing.T) {
	var sizes []int
	for _, s := range sources(t) {
		if s.generated() {
			continue
		}
		if s.lines > maxFile {
			t.Errorf("%s has %d lines, more than %d", s.path, s.lines, maxFile)
		}
		if !s.test() {
			sizes = append(sizes, s.lines)
		}
	}
	slices.Sort(sizes)
	if m := sizes[len(sizes)/2]; m > medianFile {
		t.Errorf("half of the files have %d lines or more, want %d at most", m, medianFile)
	}
	for name, most := range otherFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d", name, n, most)
		}
	}
}

// otherFiles are sources in other languages, and their budgets.
func otherFiles(t *testing.T) map[string]int {
	files := map[string]int{"Makefile": maxMakefile}
	err := fs.WalkDir(os.DirFS("."), "bpf", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := path.Ext(name); ext == ".c" || ext == ".h" {
			files[name] = maxFile
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFunctionsStaySmall(t *testing.T) {
	var sizes []int
	for _, s := range sources(t) {
		if s.generated() || s.test() {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := s.line(f.End()) - s.line(f.Pos()) + 1
			sizes = append(sizes, n)
			if n > maxFunction {
				t.Errorf("%s:%d: %s has %d lines, more than %d", s.path, s.line(f.Pos()), f.Name.Name, n, maxFunction)
			}
			if p := f.Type.Params.NumFields(); p > maxParameters {
				t.Errorf("%s:%d: %s has %d parameters, more than %d: make them an Options struct", s.path, s.line(f.Pos()), f.Name.Name, p, maxParameters)
			}
			if f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s:%d: init() hides what a program does before main", s.path, s.line(f.Pos()))
			}
		}
	}
	slices.Sort(sizes)
	if p := sizes[len(sizes)*9/10]; p > p90Function {
		t.Errorf("one function in ten has %d lines or more, want %d at most", p, p90Function)
	}
}

func TestInterfacesStaySmall(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			i, ok := n.(*ast.InterfaceType)
			if ok && i.Methods.NumFields() > maxMethods {
				t.Errorf("%s:%d: an interface of %d methods, more than %d", s.path, s.line(i.Pos()), i.Methods.NumFields(), maxMethods)
			}
			return true
		})
	}
}

func TestNoMutablePackageVariables(t *testing.T) {
	packages := map[string][]*source{}
	for _, s := range sources(t) {
		if !s.test() && !s.generated() {
			packages[path.Dir(s.path)] = append(packages[path.Dir(s.path)], s)
		}
	}
	for _, files := range packages {
		written := assigned(files)
		for _, s := range files {
			for _, v := range packageVars(s) {
				if at, ok := written[v.Name]; ok {
					t.Errorf("%s:%d: the package variable %s is changed at %s", s.path, s.line(v.Pos()), v.Name, at)
				}
			}
		}
	}
}

// packageVars returns the variables declared at the top of a file, without those
// that embed files or only assert a type.
func packageVars(s *source) []*ast.Ident {
	var list []*ast.Ident
	for _, decl := range s.file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR || gen.Doc != nil && strings.Contains(docText(gen.Doc), "//go:embed") {
			continue
		}
		for _, spec := range gen.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if name.Name != "_" {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

func docText(doc *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range doc.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// assigned returns where the package's functions write to, or take the address of, a
// name that they do not declare themselves.
func assigned(files []*source) map[string]string {
	where := map[string]string{}
	for _, s := range files {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			local := declared(f)
			for _, id := range writes(f) {
				if !local[id.Name] {
					where[id.Name] = s.fset.Position(id.Pos()).String()
				}
			}
		}
	}
	return where
}

// declared are the names that a function declares, in whatever scope.
func declared(f *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names[id.Name] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// writes are the variables that a function changes or takes the address of.
func writes(f *ast.FuncDecl) []*ast.Ident {
	var list []*ast.Ident
	note := func(e ast.Expr) {
		if id := rootIdent(e); id != nil {
			list = append(list, id)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					note(e)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X)
			}
		}
		return true
	})
	return list
}

// rootIdent is the variable that an assignable expression reaches into.
func rootIdent(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return rootIdent(e.X)
	case *ast.SelectorExpr:
		return rootIdent(e.X)
	case *ast.StarExpr:
		return rootIdent(e.X)
	case *ast.ParenExpr:
		return rootIdent(e.X)
	}
	return nil
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.generated() || s.file.Name.Name == "main" {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s:%d: %s is exported and not documented", s.path, s.line(name.Pos()), name.Name)
			}
		}
	}
}

func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var list []*ast.Ident
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					list = append(list, spec.Name)
				}
			case *ast.ValueSpec:
				if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					list = append(list, spec.Names[0])
				}
			}
		}
		return list
	}
	return nil
}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	e := f.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}
