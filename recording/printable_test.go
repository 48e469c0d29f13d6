package recording

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"GET /prices/{}":              "GET /prices/{}",
		"Größe 日本語 λ":                 "Größe 日本語 λ",
		"\x1b]0;title\x07":            `\x1b]0;title\x07`,
		"a\x7fb\nc\td\re":             `a\x7fb\x0ac\x09d\x0de`,
		"\u009b31m":                   `\x9b31m`,
		"raw \x9b31m \xff":            `raw \x9b31m \xff`,
		"\u202egnp.exe\u2066":         `\u202egnp.exe\u2066`,
		"zero\u200bwidth\u2060\ufeff": `zero\u200bwidth\u2060\ufeff`,
		"line\u2028end\u2029":         `line\u2028end\u2029`,
		"tag \U000e0041":              `tag \U000e0041`,
		"soft\u00adhyphen":            `soft\u00adhyphen`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}
