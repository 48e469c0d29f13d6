package web_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// The page's filter accepts Go's regular expressions; its own test reads these examples too.
func TestRegularExpressionsMatchAlike(t *testing.T) {
	texts := []string{"", "GET /things/{}", "get /Things/7", "10.0.0.1:4000", "db.test", "a\nb", "a\rb", "SELECT \"users\"", "été ☂ 𝄞", "[x]-\\_/", "\u2028", "aaaa", "x9\tz"}
	type example struct {
		Pattern string `json:"pattern"`
		Wrong   bool   `json:"wrong"`
		Matches []int  `json:"matches"` // indexes of the texts
	}
	var list []example
	for _, pattern := range []string{"", "GET", "(?i)get /things", "^GET", "/{}$", "{}", "{", "}", "a{2,3}", "^a{4}$", "a{5}", "a{,2}", "10\\.0\\.", "10.0", "^a.b$", "(?s)^a.b$", "(?m)^b$", "^b",
		"db|GET", "(?:db|10)\\.", "(?P<n>d)b", "(?<n>d)b", "[[:digit:]]", "[[:upper:]]{3}", "[[:punct:]]x", "\\d+\\t", "\\D$", "\\s", "\\S\\s\\S", "[\\s]b", "[^\\S]", "[\\w]\\W", "\\bthings\\b",
		"\\BET", "\\Adb", "test\\z", "\\Q{}\\E", "\\Q.", "\\pL", "\\p{Lu}", "\\p{Greek}", "\\PL", "[^\\x00-\\x7F]", "\\x{1D11E}$", "^.{7}$", "[]x]+", "[^]a]", "[\\]-]", "\\-\\\\", "\\_", "\\/",
		"a+?", "a*", "[a-c-]", "\\\"", "users\"", "\\xe9", "\\.", "☂", "]", "\\[x\\]", "(a)(a)",
		"(", ")", "[", "a**", "(?=a)", "(?!a)", "(?<=a)b", "a{1001}", "\\y", "\\8", "x\\", "[b-a]", "(?z)a", "*a", "\\pX"} {
		e := example{Pattern: pattern, Matches: []int{}}
		re, err := regexp.Compile(pattern)
		e.Wrong = err != nil
		for i, text := range texts {
			if err == nil && re.MatchString(text) {
				e.Matches = append(e.Matches, i)
			}
		}
		list = append(list, e)
	}
	alike(t, "../../ui/test/regexps.json", map[string]any{"texts": texts, "examples": list})
}

// alike compares a file of examples, which the page's own tests read, with Go's results.
func alike(t *testing.T, name string, examples any) {
	t.Helper()
	want, err := json.Marshal(examples)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want)+"\n" {
		t.Errorf("%s is not what Go says: run go test ./internal/web -update (%v)", name, err)
	}
}
