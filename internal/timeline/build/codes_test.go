package build

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/waits"
)

// sourcesBelow lists the Go files of a directory and its subdirectories, except tests.
func sourcesBelow(t *testing.T, dir string) (list []string) {
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Every code is explained, and only Assign writes which request a call belongs to.
func TestOneWriterOfWhoseACallIs(t *testing.T) {
	codes, texts := 0, waits.RuleTexts()
	for _, name := range sourcesBelow(t, "..") {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, to := range x.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Why" && filepath.Base(name) != "ledger.go" {
						t.Errorf("%s writes Call.Why: assign does", name)
					}
				}
			case *ast.ValueSpec:
				if id := x.Names[0].Name; strings.HasPrefix(id, "Why") && len(x.Values) == 1 {
					codes++
					if code := strings.Trim(x.Values[0].(*ast.BasicLit).Value, `"`); timeline.RuleText(code) == "" {
						t.Errorf("RuleText does not explain %s", code)
					}
				}
				for i, id := range x.Names {
					if strings.HasPrefix(id.Name, "Rule") && len(x.Values) > i {
						codes++
						if code := strings.Trim(x.Values[i].(*ast.BasicLit).Value, `"`); texts[code] == "" {
							t.Errorf("RuleTexts does not explain %s", code)
						}
					}
				}
			}
			return true
		})
	}
	if codes < 50 {
		t.Errorf("only %d codes were found", codes)
	}
}
