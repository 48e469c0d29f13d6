package recording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text as it may be shown anywhere: what a terminal would take for a command, what changes the
// direction or the look of what stands beside it, what cannot be seen, and what is no UTF-8 is written as in
// \x1b, \u202e or \xff. All else is as it is.
func Printable(text string) string {
	clean := true
	for i := 0; clean && i < len(text); i++ {
		clean = text[i] >= ' ' && text[i] < 0x7f
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < 0xa0 && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case shows(r):
			b.WriteString(text[i : i+n])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// shows reports whether a character is one that a reader sees, or a space.
func shows(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Variation_Selector, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == 0xa0
}

// Printable makes all texts of a recording such as may be shown anywhere: names of programs, threads, functions,
// files and hosts are whatever the service or its peers made them.
func (r *Recording) Printable() {
	v := newPrinter()
	for i := range r.Events {
		r.Events[i].Fact.Visit(v)
	}
}

// printer makes the texts of facts printable, each text once.
type printer struct{ known map[string]string }

func newPrinter() *printer { return &printer{known: map[string]string{}} }

// Int implements Visitor.
func (*printer) Int(string, *int64) {}

// Enum implements Visitor.
func (*printer) Enum(string, []string, *int64) {}

// Str implements Visitor.
func (p *printer) Str(_ string, v *string) {
	if *v == "" {
		return
	}
	shown, ok := p.known[*v]
	if !ok {
		shown = Printable(*v)
		p.known[*v] = shown
	}
	*v = shown
}
