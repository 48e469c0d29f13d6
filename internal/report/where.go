package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// Where selects requests by their properties: see WhereHelp.
type Where struct {
	text  string
	match func(tl *timeline.Timeline, r *timeline.Request) bool
}

// WhereHelp describes the syntax of an expression.
const WhereHelp = `Requests are chosen by comparisons, joined by and, or, not and parentheses:

  duration>50ms            how long the request took (us, ms, s); also <, >=, <=, =, !=
  lock>10ms, connect>1ms   how much of it has a cause or a phase, by the names of the table
  unaccounted>1ms          how much of it has no cause
  status>=500  calls>3     the answer's status, the number of calls; id=17
  endpoint~"items"         = and != compare whole texts, ~ and !~ regular expressions
  call~"GetItem"           some call's operation and peer, as "GetItem at db.test:8000"
  peer="db.test"           some call's peer; new=1: some call opened a connection
  thread~"^pool-"          the thread that served it; client~"10.0.0."
  cause=lock               what took most of it; process=4711: who served it

as in --where 'duration>50ms and (call~"GetItem" or lock>5ms)'.`

// longestWhere and deepestWhere bound an expression.
const (
	longestWhere = 4096
	deepestWhere = 64
)

// ParseWhere reads an expression.
func ParseWhere(text string) (*Where, error) {
	if len(text) > longestWhere {
		return nil, fmt.Errorf("it has %d characters, more than %d", len(text), longestWhere)
	}
	p := &whereParser{rest: text}
	match, err := p.either(0)
	if err == nil {
		if p.next(); p.token != "" {
			err = fmt.Errorf("what is %q for? (comparisons are joined by and, or)", p.token)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Where{text, match}, nil
}

// String returns the expression as it was given.
func (w *Where) String() string { return w.text }

// Match reports whether a request is selected; a nil Where selects all.
func (w *Where) Match(tl *timeline.Timeline, r *timeline.Request) bool {
	return w == nil || w.match(tl, r)
}

type matcher = func(tl *timeline.Timeline, r *timeline.Request) bool

// whereParser parses an expression from left to right.
type whereParser struct {
	rest   string
	token  string // the last token; "" at the end
	quoted bool   // it was in quotes
}

// next takes a token: a quoted text, an operator, a parenthesis or a word.
func (p *whereParser) next() {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	p.token, p.quoted = "", false
	if p.rest == "" {
		return
	}
	if q := p.rest[0]; q == '"' || q == '\'' {
		if end := strings.IndexByte(p.rest[1:], q); end >= 0 {
			p.token, p.rest, p.quoted = p.rest[1:1+end], p.rest[end+2:], true
			return
		}
	}
	for _, op := range []string{">=", "<=", "!=", "!~", "&&", "||", "==", ">", "<", "=", "~", "(", ")", "!"} {
		if strings.HasPrefix(p.rest, op) {
			p.token, p.rest = op, p.rest[len(op):]
			return
		}
	}
	end := strings.IndexAny(p.rest, " \t\n<>=~!()&|")
	if end <= 0 {
		end = len(p.rest)
	}
	p.token, p.rest = p.rest[:end], p.rest[end:]
}

// peek returns the next token without consuming it.
func (p *whereParser) peek() string {
	at := *p
	at.next()
	if at.quoted {
		return ""
	}
	return at.token
}

func (p *whereParser) either(depth int) (matcher, error) {
	return p.joined(depth, []string{"or", "||"}, p.both, func(a, b matcher) matcher {
		return func(tl *timeline.Timeline, r *timeline.Request) bool { return a(tl, r) || b(tl, r) }
	})
}

func (p *whereParser) both(depth int) (matcher, error) {
	return p.joined(depth, []string{"and", "&&"}, p.single, func(a, b matcher) matcher {
		return func(tl *timeline.Timeline, r *timeline.Request) bool { return a(tl, r) && b(tl, r) }
	})
}

// joined reads parts that are joined by a word.
func (p *whereParser) joined(depth int, words []string, part func(int) (matcher, error), join func(a, b matcher) matcher) (matcher, error) {
	m, err := part(depth)
	for err == nil && (p.peek() == words[0] || p.peek() == words[1]) {
		p.next()
		var b matcher
		if b, err = part(depth); err == nil {
			m = join(m, b)
		}
	}
	return m, err
}

func (p *whereParser) single(depth int) (matcher, error) {
	if depth > deepestWhere {
		return nil, fmt.Errorf("it is nested more than %d deep", deepestWhere)
	}
	switch p.next(); {
	case p.quoted:
		return nil, fmt.Errorf("%q is compared with nothing (as in call~%q)", p.token, p.token)
	case p.token == "":
		return nil, fmt.Errorf("it ends where a comparison is expected")
	case p.token == "not" || p.token == "!":
		m, err := p.single(depth + 1)
		return func(tl *timeline.Timeline, r *timeline.Request) bool { return !m(tl, r) }, err
	case p.token == "(":
		m, err := p.either(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.next(); p.token != ")" || p.quoted {
			return nil, fmt.Errorf("a parenthesis is not closed")
		}
		return m, nil
	}
	field := p.token
	p.next()
	op := p.token
	if !strings.Contains(" > >= < <= = == != ~ !~ ", " "+op+" ") || p.quoted || op == "" {
		return nil, fmt.Errorf("%s: what is it compared with? (as in %s>50ms)", field, field)
	}
	if p.next(); p.token == "" && !p.quoted {
		return nil, fmt.Errorf("%s%s: a value is missing", field, op)
	}
	return comparison(field, op, p.token)
}

// whereFields are the names of all fields of requests.
func whereFields() []string {
	list := []string{"duration", "status", "id", "process", "calls", "new", "endpoint", "cause", "client", "thread", "call", "peer"}
	for p := range timeline.NumPhases {
		list = append(list, p.String())
	}
	for _, c := range WebCauses() {
		if !slices.Contains(list, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

func comparison(field, op, value string) (matcher, error) {
	if texts := textField(field); texts != nil {
		return textComparison(field, op, value, texts)
	}
	number := numberField(field)
	if number == nil {
		return nil, fmt.Errorf("%q is nothing that requests have: there are %s", field, strings.Join(whereFields(), ", "))
	}
	bound, err := quantityOf(field, value)
	if err != nil {
		return nil, err
	}
	holds := map[string]func(n int64) bool{
		">": func(n int64) bool { return n > bound }, ">=": func(n int64) bool { return n >= bound },
		"<": func(n int64) bool { return n < bound }, "<=": func(n int64) bool { return n <= bound },
		"=": func(n int64) bool { return n == bound }, "==": func(n int64) bool { return n == bound },
		"!=": func(n int64) bool { return n != bound },
	}[op]
	if holds == nil {
		return nil, fmt.Errorf("%s%s: %s is a number (compare it with <, >, =)", field, op, field)
	}
	return func(tl *timeline.Timeline, r *timeline.Request) bool { return holds(number(tl, r)) }, nil
}

func textComparison(field, op, value string, texts func(*timeline.Timeline, *timeline.Request) []string) (matcher, error) {
	var like func(string) bool
	switch op {
	case "=", "==", "!=":
		like = func(s string) bool { return s == value }
	case "~", "!~":
		re, err := regexp.Compile(value)
		if err != nil {
			return nil, fmt.Errorf("%s%s%q: %w", field, op, value, err)
		}
		like = re.MatchString
	default:
		return nil, fmt.Errorf("%s%s: %s is a text (compare it with =, !=, ~, !~)", field, op, field)
	}
	not := strings.HasPrefix(op, "!")
	return func(tl *timeline.Timeline, r *timeline.Request) bool {
		for _, s := range texts(tl, r) {
			if like(s) {
				return !not
			}
		}
		return not
	}, nil
}

// textField returns a function that returns the values of a text field; a field of calls has several values.
func textField(field string) func(*timeline.Timeline, *timeline.Request) []string {
	ofCalls := func(text func(*timeline.Call) string) func(*timeline.Timeline, *timeline.Request) []string {
		return func(tl *timeline.Timeline, r *timeline.Request) (out []string) {
			for _, id := range r.Calls {
				out = append(out, text(&tl.Calls[id]))
			}
			return out
		}
	}
	switch field {
	case "endpoint":
		return func(_ *timeline.Timeline, r *timeline.Request) []string { return []string{r.Endpoint} }
	case "cause":
		return func(_ *timeline.Timeline, r *timeline.Request) []string { return []string{causeName(mainCause(r))} }
	case "client":
		return func(_ *timeline.Timeline, r *timeline.Request) []string { return []string{r.Peer} }
	case "thread":
		return func(tl *timeline.Timeline, r *timeline.Request) []string {
			if r.Strand == timeline.None {
				return nil
			}
			return []string{strandName(tl, r.Strand)}
		}
	case "call":
		return ofCalls(func(c *timeline.Call) string { return strings.TrimPrefix(c.Operation+" at "+c.Peer, " at ") })
	case "peer":
		return ofCalls(func(c *timeline.Call) string { return c.Peer })
	}
	return nil
}

// numberField returns a function that returns a numeric field; durations are in nanoseconds.
func numberField(field string) func(*timeline.Timeline, *timeline.Request) int64 {
	switch field {
	case "duration":
		return func(_ *timeline.Timeline, r *timeline.Request) int64 { return int64(r.Duration()) }
	case "unaccounted":
		return func(_ *timeline.Timeline, r *timeline.Request) int64 { return int64(r.Unaccounted()) }
	case "status":
		return func(_ *timeline.Timeline, r *timeline.Request) int64 { return r.Status }
	case "calls":
		return func(_ *timeline.Timeline, r *timeline.Request) int64 { return int64(len(r.Calls)) }
	case "process":
		return func(tl *timeline.Timeline, r *timeline.Request) int64 {
			if i := slices.IndexFunc(tl.Processes, func(p timeline.Process) bool { return p.ID == r.Process }); i >= 0 {
				return tl.Processes[i].PID
			}
			return 0
		}
	case "id":
		return func(_ *timeline.Timeline, r *timeline.Request) int64 { return int64(r.ID) }
	case "new":
		return func(tl *timeline.Timeline, r *timeline.Request) (n int64) {
			for _, id := range r.Calls {
				if tl.Calls[id].New {
					n = 1
				}
			}
			return n
		}
	}
	return spent(field)
}

// spent returns a function for how much of a request has a cause or a phase of that name; nil if there is none.
func spent(name string) func(*timeline.Timeline, *timeline.Request) int64 {
	is := func(*timeline.Segment) bool { return false }
	known := false
	for p := range timeline.NumPhases {
		if p.String() == name {
			known, is = true, func(s *timeline.Segment) bool { return s.Phase == p }
		}
	}
	for c := range timeline.NumCauses {
		if c.String() == name {
			known, is = true, func(s *timeline.Segment) bool { return s.Cause == c }
		}
	}
	if !known {
		return nil
	}
	return func(_ *timeline.Timeline, r *timeline.Request) (sum int64) {
		s := r.Segments() // declared once: passing it to is moves it to the heap
		for s.Next() {
			if is(&s.Segment) {
				sum += int64(s.To.Sub(s.From))
			}
		}
		return sum
	}
}

// quantityOf reads the number with which a field is compared.
func quantityOf(field, value string) (int64, error) {
	switch field {
	case "status", "calls", "id", "new", "process":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is no whole number", field, value)
		}
		return n, nil
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}} {
		if digits, ok := strings.CutSuffix(value, u.name); ok {
			if f, err := strconv.ParseFloat(digits, 64); err == nil && f >= 0 && f*u.ns < 1<<62 {
				return int64(f * u.ns), nil
			}
		}
	}
	return 0, fmt.Errorf("%s: %q is no duration (as in 50ms, 200us, 1.5s)", field, value)
}
