package web_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/web"
)

type model string

func (m model) WebJSON(w io.Writer) error {
	_, err := io.WriteString(w, string(m))
	return err
}

// A page loads nothing and runs nothing but its own program, whatever its title is.
func TestFileIsStrict(t *testing.T) {
	var b bytes.Buffer
	if err := web.File(&b, `</title><script>alert(1)</script>`, model(`{"kind":"recording"}`)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"default-src 'none'; script-src 'sha256-", "style-src 'sha256-", "base-uri 'none'; form-action 'none'", `{"kind":"recording"}`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want the data and the program", n)
	}
	if found := regexp.MustCompile(`(?i)<[^>]+\s(on\w+|src|href)=`).FindString(strings.Split(page, `<script type="application/json"`)[0]); found != "" {
		t.Errorf("the document has %s", found)
	}
}
