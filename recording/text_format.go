package recording

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

const textHeader = "# dwell recording, text form "

// FormatText writes rec in the text form, see the package comment.
func FormatText(w io.Writer, rec *Recording) error {
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, "%s%d\n", textHeader, Version)
	specs := Kinds()
	line := &lineVisitor{}
	for _, e := range rec.Events {
		name := kindName(e.Fact, specs)
		if !isWord(name) {
			return fmt.Errorf("format recording: a kind is named %q, which the text form cannot say", name)
		}
		line.b = strconv.AppendInt(line.b[:0], int64(e.Time), 10)
		line.b = append(append(line.b, ' '), name...)
		_, line.all = e.Fact.(*UnknownFact)
		e.Fact.Visit(line)
		if line.bad != "" {
			return fmt.Errorf("format recording: a field is named %q, which the text form cannot say", line.bad)
		}
		line.b = append(line.b, '\n')
		if _, err := out.Write(line.b); err != nil {
			return fmt.Errorf("format recording: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("format recording: %w", err)
	}
	return nil
}

// lineVisitor writes the fields of one fact.
type lineVisitor struct {
	b   []byte
	all bool   // for an UnknownFact: also write zeros, and quote all strings
	bad string // a name that cannot be written
}

func (l *lineVisitor) name(name string) {
	if !isWord(name) {
		l.bad = name
	}
	l.b = append(append(append(l.b, ' '), name...), '=')
}

// Int implements Visitor.
func (l *lineVisitor) Int(name string, v *int64) {
	if *v != 0 || l.all {
		l.name(name)
		l.b = strconv.AppendInt(l.b, *v, 10)
	}
}

// Enum implements Visitor.
func (l *lineVisitor) Enum(name string, names []string, v *int64) {
	switch {
	case *v == 0:
	case *v > 0 && *v < int64(len(names)):
		l.name(name)
		l.b = append(l.b, names[*v]...)
	default:
		l.Int(name, v)
	}
}

// Str implements Visitor.
func (l *lineVisitor) Str(name string, v *string) {
	if *v == "" && !l.all {
		return
	}
	l.name(name)
	if isBare(*v) && !l.all {
		l.b = append(l.b, *v...)
	} else {
		l.b = strconv.AppendQuote(l.b, *v)
	}
}

// isWord reports whether s can name a kind or a field.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// isBare reports whether s needs no quotes as a value.
func isBare(s string) bool {
	for i := range len(s) {
		if !isBareByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isBareByte(c byte) bool {
	switch c {
	case '_', '.', '/', ':', '@', '{', '}', '*', '+', '-':
		return true
	}
	return isAlnum(c)
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
