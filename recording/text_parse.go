package recording

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxLine bounds a line of the text form, in bytes.
const maxLine = 1 << 20

// ParseText is Load for the text form, see the package comment. Errors name the line. If the first event of the input
// cannot be read, the error is ErrNotRecording.
func ParseText(r io.Reader) (*Recording, error) {
	events, err := parseText(r)
	if err != nil {
		return nil, err
	}
	return finish(Workers{}, events, 0)
}

func parseText(r io.Reader) ([]Event, error) {
	p := textParser{specs: map[string]KindSpec{}, strings: map[string]string{}}
	for _, k := range Kinds() {
		p.specs[k.Name] = k
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		err := p.line(lines.Text())
		var newer NewerError
		switch {
		case err == nil:
		case errors.As(err, &newer):
			return nil, err
		case len(p.events) == 0:
			return nil, fmt.Errorf("%w: line %d: %w", ErrNotRecording, n, err)
		default:
			return nil, fmt.Errorf("recording, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return p.events, nil
}

type textParser struct {
	specs   map[string]KindSpec
	strings map[string]string
	events  []Event
	fields  []textField // of the current line
	fill    textVisitor
	slabs   slabs
}

// textField is one name=value of a line.
type textField struct {
	name   string
	value  string // unquoted
	quoted bool
	used   bool
}

func (p *textParser) line(s string) error {
	if v, ok := strings.CutPrefix(s, textHeader); ok {
		return checkTextVersion(v)
	}
	first, rest := word(s)
	if first == "" {
		return nil
	}
	t, err := parseNumber(first)
	if err != nil {
		return err
	}
	name, rest := word(rest)
	if !isWord(name) {
		return fmt.Errorf("after the time: %q is not the name of a kind", name)
	}
	if err := p.split(rest); err != nil {
		return err
	}
	fact, err := p.fact(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.events = append(p.events, Event{Time: Time(t), Fact: fact})
	return nil
}

func checkTextVersion(s string) error {
	v, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return fmt.Errorf("the first line names no version of the text form")
	}
	if v > Version {
		return NewerError{Version: v}
	}
	return nil
}

// word splits off the first word; it is "" if only a comment or nothing is left.
func word(s string) (first, rest string) {
	s = strings.TrimLeft(s, " \t\r")
	if s == "" || s[0] == '#' {
		return "", ""
	}
	if i := strings.IndexAny(s, " \t\r"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// split fills p.fields.
func (p *textParser) split(s string) error {
	p.fields = p.fields[:0]
	for {
		s = strings.TrimLeft(s, " \t\r")
		if s == "" || s[0] == '#' {
			return nil
		}
		name, rest, ok := strings.Cut(s, "=")
		if !ok || !isWord(name) {
			return fmt.Errorf("%.40q is not of the form name=value", s)
		}
		f := textField{name: name, quoted: strings.HasPrefix(rest, `"`)}
		var err error
		if s, err = f.take(rest); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s != "" && !strings.ContainsRune(" \t\r", rune(s[0])) {
			return fmt.Errorf("%s: %.20q follows the value without a space", name, s)
		}
		if slices.ContainsFunc(p.fields, func(g textField) bool { return g.name == name }) {
			return fmt.Errorf("%s is given twice", name)
		}
		p.fields = append(p.fields, f)
	}
}

// take reads the value at the start of s and returns what follows.
func (f *textField) take(s string) (rest string, err error) {
	if !f.quoted {
		i := strings.IndexAny(s, " \t\r")
		if i < 0 {
			i = len(s)
		}
		if f.value = s[:i]; !isBare(f.value) {
			return "", fmt.Errorf("the value %.40q is empty or needs quotes", f.value)
		}
		return s[i:], nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", errors.New("the quoted string does not end, or has a wrong escape")
	}
	if f.value, err = strconv.Unquote(quoted); err != nil {
		return "", errors.New("wrong quoted string")
	}
	return s[len(quoted):], nil
}

// fact makes a fact of the named kind from p.fields.
func (p *textParser) fact(name string) (Fact, error) {
	spec, ok := p.specs[name]
	if !ok {
		return p.unknown(name)
	}
	f := p.slabs.make(&spec)
	p.fill = textVisitor{fields: p.fields, strings: p.strings}
	f.Visit(&p.fill)
	if p.fill.err != nil {
		return nil, p.fill.err
	}
	for _, field := range p.fields {
		if !field.used {
			return nil, fmt.Errorf("there is no field %q", field.name)
		}
	}
	return f, nil
}

func (p *textParser) unknown(name string) (Fact, error) {
	u := &UnknownFact{Name: strings.Clone(name)}
	for _, f := range p.fields {
		field := Field{Name: strings.Clone(f.name), IsStr: f.quoted}
		if f.quoted {
			field.Str = strings.Clone(f.value)
		} else {
			v, err := parseNumber(f.value)
			if err != nil {
				return nil, fmt.Errorf("dwell does not know this kind, and the value of %s is neither a number nor quoted", f.name)
			}
			field.Int = v
		}
		u.Fields = append(u.Fields, field)
	}
	return u, nil
}

// textVisitor sets the fields of a fact from those of a line.
type textVisitor struct {
	fields  []textField
	strings map[string]string
	err     error // the first error
}

func (t *textVisitor) find(name string) *textField {
	for i := range t.fields {
		if t.fields[i].name == name {
			t.fields[i].used = true
			return &t.fields[i]
		}
	}
	return nil
}

func (t *textVisitor) number(f *textField, v *int64) {
	n, err := parseNumber(f.value)
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("%s: %w", f.name, err)
	}
	*v = n
}

// Int implements Visitor.
func (t *textVisitor) Int(name string, v *int64) {
	if f := t.find(name); f != nil {
		t.number(f, v)
	}
}

// Enum implements Visitor.
func (t *textVisitor) Enum(name string, names []string, v *int64) {
	f := t.find(name)
	if f == nil {
		return
	}
	if i := slices.Index(names, f.value); i >= 0 {
		*v = int64(i)
		return
	}
	t.number(f, v)
	if t.err != nil {
		t.err = fmt.Errorf("%s: %q is none of %s", name, f.value, strings.Join(names, ", "))
	}
}

// Str implements Visitor.
func (t *textVisitor) Str(name string, v *string) {
	f := t.find(name)
	if f == nil {
		return
	}
	s, ok := t.strings[f.value]
	if !ok {
		s = strings.Clone(f.value) // so that the line can be freed
		t.strings[s] = s
	}
	*v = s
}

// parseNumber reads an integer with optional underscores, or a length of time with a unit. A length that is not exact
// in nanoseconds is an error.
func parseNumber(s string) (int64, error) {
	if n, ok := numberOf(s); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%.40q is not a number, nor one with the unit ns, us, ms or s", s)
}

func numberOf(s string) (n int64, ok bool) {
	digits, unit := s, int64(1)
	for _, u := range []struct {
		name string
		ns   int64
	}{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}} {
		if cut, ok := strings.CutSuffix(s, u.name); ok {
			digits, unit = cut, u.ns
			break
		}
	}
	whole, part, hasPart := strings.Cut(digits, ".")
	if whole == "" || whole[0] == '_' || strings.HasSuffix(whole, "_") || hasPart && (unit == 1 || part == "") {
		return 0, false
	}
	negative := whole[0] == '-'
	n, err := strconv.ParseInt(strings.ReplaceAll(whole, "_", ""), 10, 64)
	if err != nil || whole[0] == '+' || n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, false
	}
	n *= unit
	for i := range len(part) {
		unit /= 10
		digit := int64(part[i] - '0')
		if part[i] < '0' || part[i] > '9' || unit == 0 {
			return 0, false
		}
		if negative {
			digit = -digit
		}
		sum := n + digit*unit
		if digit > 0 && sum < n || digit < 0 && sum > n {
			return 0, false
		}
		n = sum
	}
	return n, true
}
