// Command templates is a shop that renders a page from templates, which it parses for each
// request; with FIXED=1 it did that once. PORT is in the environment.
package main

import (
	"cmp"
	"fmt"
	"html/template"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/getdwell/dwell/internal/truth"
)

const pages = 40

type shop struct {
	dir    string
	parsed *template.Template // nil: for each request
}

// load parses all pages.
func (s *shop) load() *template.Template {
	return template.Must(template.ParseGlob(filepath.Join(s.dir, "*.html")))
}

func (s *shop) page(w http.ResponseWriter, _ *http.Request) {
	all := s.parsed
	if all == nil {
		all = s.load()
	}
	if err := all.ExecuteTemplate(w, "page7.html", []string{"cup", "plate", "spoon"}); err != nil {
		log.Print(err)
	}
}

func main() {
	log.Fatal(serve("127.0.0.1:" + os.Getenv("PORT")))
}

func serve(listen string) error {
	dir, err := os.MkdirTemp("", "templates-")
	for i := 0; i < pages && err == nil; i++ {
		const page = "<html>{{range .}}{{if .}}<p>{{.}}</p>{{else}}<p>nothing</p>{{end}}{{end}}{{with index . 0}}<b>{{printf \"%s!\" .}}</b>{{end}}</html>\n"
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("page%d.html", i)), []byte(page), 0o600)
	}
	if err != nil {
		return err
	}
	s := &shop{dir: dir}
	if cmp.Or(os.Getenv("FIXED"), "0") == "1" {
		s.parsed = s.load()
	}
	return truth.Serve(listen, false, s.page)
}
