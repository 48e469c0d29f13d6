package dwell_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Every rule that decides whose a call is (Call.Why) is named in the comment of the package that it is in, so that a
// wrong owner leads to the code; and the files that such comments name are there.
func TestPackageCommentsNameTheRules(t *testing.T) {
	rules, named, used, files := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	why, file := regexp.MustCompile(`\bWhy[A-Z]\w*`), regexp.MustCompile(`\b[a-z]+\.go\b`)
	comments := map[string]string{}
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if s.test() || !strings.HasPrefix(dir, "internal/timeline") {
			continue
		}
		files[s.path] = true
		if s.file.Doc != nil {
			comments[dir] += s.file.Doc.Text()
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && why.MatchString(id.Name) {
				used[dir+" "+id.Name] = true
				rules[id.Name] = rules[id.Name] || dir == "internal/timeline" && path.Base(s.path) == "whys.go"
			}
			return true
		})
	}
	for dir, text := range comments {
		for _, rule := range why.FindAllString(text, -1) {
			named[rule] = true
			if !used[dir+" "+rule] {
				t.Errorf("%s has no rule %s", dir, rule)
			}
		}
		if len(why.FindAllString(text, -1)) == 0 {
			continue
		}
		for _, name := range file.FindAllString(text, -1) {
			if !files[dir+"/"+name] {
				t.Errorf("%s has no file %s", dir, name)
			}
		}
	}
	for rule, declared := range rules {
		if declared && !named[rule] {
			t.Errorf("no package comment names %s", rule)
		}
	}
}
