package recording

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text that is safe to show anywhere. It escapes, as in \x1b, \u202e or \xff: characters that a
// terminal takes for commands, characters that change the direction or the look of adjacent text, invisible
// characters, and invalid UTF-8. Everything else is unchanged.
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

// shows reports whether a character is visible, or is a space.
func shows(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Variation_Selector, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == 0xa0
}

// Printable makes all texts of a recording safe to show anywhere. The service and its peers choose the names of
// programs, threads, functions, files and hosts, so these may contain anything.
func (r *Recording) Printable() {
	p := newPrinter()
	for i := range r.Events {
		p.print(r.Events[i].Fact)
	}
}

// printer makes the texts of facts printable, and converts each distinct text only once.
type printer struct {
	known map[string]string
	none  []bool // by Kind: its facts have no text
}

func newPrinter() *printer {
	p := &printer{known: map[string]string{}}
	for _, k := range Kinds() {
		for len(p.none) <= int(k.Kind) {
			p.none = append(p.none, false)
		}
		p.none[k.Kind] = !slices.ContainsFunc(shapeOf(k.Name, k.New()).columns, func(c column) bool { return c.typ == typeStr })
	}
	return p
}

// print makes the texts of a fact printable.
func (p *printer) print(f Fact) {
	if k := f.Kind(); k > KindNone && int(k) < len(p.none) && p.none[k] {
		return
	}
	f.Visit(p)
}

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
