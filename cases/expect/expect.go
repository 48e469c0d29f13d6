// Package expect reads the answer key of a case, expect.txt, and holds diagnoses
// (the output of `dwell why --json`) against it.
//
// One expectation a line; # begins a comment. The first word names the scenario, the
// second what is expected there:
//
//	bad/moderate  first      connection-churn
//	bad/moderate  finding    connection-churn  "on a new connection" >= 0.95
//	bad/moderate  refuted    slow-peer         "remote" < 0.5
//	bad/moderate  lead       cpu-bound
//	bad/moderate  minor      tls-handshake
//	bad/moderate  innocent   slow-peer
//	bad/overload  undecided  load
//	fixed/moderate nothing
//	fixed/slow     nothing    but sleep-retry
//	moderate      saving     p50 50%..120%
//	bad/moderate  finding    lock-convoy       "waiting at once" >= 3 says "Cache.get"
//	fixed/sla     measured   "client p99 ms" < 20
//
// first: the finding with the largest impact. finding, lead, minor: the id is in that list,
// and each condition holds for an item of its evidence whose name contains the quoted words;
// says: its title, place or the name of a piece of its evidence contains them. refuted: it
// is ruled out, or minor: seen, and worth nothing, or a consequence of a finding. innocent:
// it was looked at and is no finding; it may take time all the same, as an honest database
// does. undecided: facts were missing. nothing: there are no findings
// (but: other than these, which may be there). saving: what was predicted from the bad
// variant's recording for a quantile of all requests, as a share of the difference that
// the client then measured. measured: a number of the whole scenario, see Measures.
package expect

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Expectation is one line of expect.txt.
type Expectation struct {
	Line       int
	Text       string
	Scenario   string // "bad/moderate"; for a saving "moderate"
	Kind       string // first, finding, lead, minor, refuted, innocent, undecided, nothing, saving, measured
	ID         string // of the hypothesis; for a saving the quantile
	Conditions []Condition
	Allowed    []string // of nothing: the ids that may be found all the same
	Low, High  float64  // of a saving, in percent
}

// Condition holds a number of the evidence against a bound.
type Condition struct {
	What string // part of the evidence's name; of says the words
	Op   string // < <= > >= says
	Than float64
}

// Parse reads an answer key.
func Parse(r io.Reader) ([]Expectation, error) {
	var all []Expectation
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		e, err := parseLine(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("line %d of the expectations, %q: %w", n, text, err)
		}
		e.Line = n
		all = append(all, e)
	}
	return all, lines.Err()
}

// condition matches one; nothing but conditions may follow an id.
var (
	condition = regexp.MustCompile(`^\s*"([^"]+)"\s*(<=|>=|<|>)\s*([0-9.eE+-]+)`)
	says      = regexp.MustCompile(`^\s*says\s*"([^"]+)"`)
)

func parseLine(text string) (Expectation, error) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return Expectation{}, fmt.Errorf("want a scenario and what is expected there")
	}
	e := Expectation{Text: text, Scenario: words[0], Kind: words[1]}
	want := map[string]int{"first": 3, "finding": 3, "lead": 3, "minor": 3, "refuted": 3, "innocent": 3, "undecided": 3, "nothing": 2, "saving": 4, "measured": 2}[e.Kind]
	if want == 0 {
		return e, fmt.Errorf("%q is no kind of expectation", e.Kind)
	}
	if len(words) < want {
		return e, fmt.Errorf("%s needs %d words, there are %d", e.Kind, want, len(words))
	}
	if want > 2 {
		e.ID = words[2]
	}
	if e.Kind == "nothing" {
		return e, e.exceptions(words[2:])
	}
	if e.Kind == "saving" {
		n, err := fmt.Sscanf(words[3], "%f%%..%f%%", &e.Low, &e.High)
		if n != 2 || err != nil || len(words) > 4 || e.Low > e.High {
			return e, fmt.Errorf("want: saving p50 50%%..120%%")
		}
		return e, nil
	}
	rest := text
	for _, word := range words[:want] {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	return e, e.conditions(rest)
}

func (e *Expectation) exceptions(words []string) error {
	if len(words) > 0 && (words[0] != "but" || len(words) == 1) {
		return fmt.Errorf("want: nothing but ID, and more of them")
	}
	if len(words) > 0 {
		e.Allowed = words[1:]
	}
	return nil
}

// conditions reads what follows the id.
func (e *Expectation) conditions(rest string) error {
	for strings.TrimSpace(rest) != "" {
		if m := says.FindStringSubmatch(rest); m != nil {
			e.Conditions = append(e.Conditions, Condition{What: m[1], Op: "says"})
			rest = rest[len(m[0]):]
			continue
		}
		m := condition.FindStringSubmatch(rest)
		if m == nil {
			return fmt.Errorf(`%q is no condition; want "name" < number, or says "words"`, rest)
		}
		than, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return err
		}
		e.Conditions = append(e.Conditions, Condition{What: m[1], Op: m[2], Than: than})
		rest = rest[len(m[0]):]
	}
	return nil
}

// Holds reports whether a value satisfies the condition.
func (c Condition) Holds(value float64) bool {
	switch c.Op {
	case "<":
		return value < c.Than
	case "<=":
		return value <= c.Than
	case ">":
		return value > c.Than
	default:
		return value >= c.Than
	}
}
