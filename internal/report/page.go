package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// TextOptions say how text is laid out.
type TextOptions struct {
	Color  bool
	Width  int    // columns; 0: usual
	Source Source // of code at the places of waits; nil: none
	All    bool   // include the reasons of what is ruled out
	Path   string // of the recording, for commands in the text; "": they contain REC instead
}

// page collects lines of text.
type page struct {
	b      strings.Builder
	color  bool
	width  int
	path   string
	source Source
	all    bool             // print everything, on more than one screen
	inks   map[string]style // of causes
	named  map[string]bool  // causes that the text has already named in words
	brevity
}

func newPage(o TextOptions) *page {
	p := &page{color: o.Color, width: o.Width, source: o.Source, all: o.All}
	if plainPath.MatchString(o.Path) {
		p.path = o.Path
	}
	if p.color {
		p.inks = inks()
	}
	if p.width == 0 {
		p.width = usual
	}
	p.width = max(p.width, 60)
	return p
}

// commands matches dwell's commands on the reported recording. plainPath matches a path that needs no quotes and
// leaves room for the rest of the line.
var (
	commands  = regexp.MustCompile(`\b(dwell (?:show|why|threads) )REC\b`)
	plainPath = regexp.MustCompile(`^[\w./+][\w./+-]{0,47}$`)
)

// style is an ANSI attribute.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

func (p *page) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (p *page) line(s style, format string, args ...any) {
	p.b.WriteString(strings.TrimRight(p.paint(s, clip(fmt.Sprintf(format, args...), p.width)), " "))
	p.b.WriteByte('\n')
}

// raw writes a line that is already painted and fits.
func (p *page) raw(text string) {
	p.b.WriteString(strings.TrimRight(text, " "))
	p.b.WriteByte('\n')
}

// usual is the number of columns if nothing else is known. Limits of lines refer to it.
const usual = 100

// wrap writes text over as many lines as it needs, but at most limit; a page narrower than usual gets proportionally
// more. The first line begins with head; the others are indented to its width.
func (p *page) wrap(s style, head, text string, limit int) {
	if p.path != "" {
		text = commands.ReplaceAllString(text, "${1}"+p.path)
	}
	limit = max(limit, (limit*usual+p.width-1)/p.width)
	indent := shownWidth(head)
	if indent > hangs {
		p.hang(s, head, text, limit)
		return
	}
	lines := fold(text, p.width-indent)
	if len(lines) > limit {
		lines = lines[:limit]
		lines[limit-1] = clip(lines[limit-1]+" ...", p.width-indent)
	}
	for i, l := range lines {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		p.raw(head + p.paint(s, l))
	}
}

// hangs is the maximum width of a head to which text is indented.
const hangs = 23

// hang is wrap with all lines but the first indented by two columns.
func (p *page) hang(s style, head, text string, limit int) {
	first := fold(text, p.width-shownWidth(head))[0]
	if !strings.HasPrefix(text, first) { // no room next to the head
		if head = strings.TrimRight(head, " "); shownWidth(head) <= p.width && limit > 1 {
			p.raw(head)
			p.wrap(s, "  ", text, limit-1)
			return
		}
		p.wrap(s, "", head+" "+text, limit)
		return
	}
	p.raw(head + p.paint(s, first))
	if rest := strings.TrimSpace(strings.TrimPrefix(text, first)); rest != "" && limit > 1 {
		p.wrap(s, "  ", rest, limit-1)
	}
}

// shownWidth returns how many columns a text occupies that may be painted.
func shownWidth(text string) int {
	n, escape := 0, false
	for _, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

func (p *page) flush(w io.Writer) error {
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// fold breaks text at spaces into lines of at most width runes; a number stays with its unit.
func fold(text string, width int) (lines []string) {
	at := ""
	for _, word := range words(text) {
		switch {
		case at == "":
			at = word
		case shownWidth(at)+1+shownWidth(word) <= width:
			at += " " + word
		default:
			lines = append(lines, clip(at, width))
			at = word
		}
	}
	return append(lines, clip(at, width))
}

func words(text string) (out []string) {
	for _, f := range strings.Fields(text) {
		switch strings.TrimRight(f, ",;:.)") {
		case "ns", "us", "ms", "s", "%":
			if n := len(out); n > 0 {
				out[n-1] += " " + f
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// clip cuts text to width runes and marks the cut.
func clip(text string, width int) string {
	if shownWidth(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-3)]) + "..."
}

// pad fills text with spaces to width runes, on the left if width is negative.
func pad(text string, width int) string {
	n := max(width, -width) - utf8.RuneCountInString(text)
	if n <= 0 {
		return text
	}
	if width < 0 {
		return strings.Repeat(" ", n) + text
	}
	return text + strings.Repeat(" ", n)
}

// bar draws a share of the whole as at most width cells.
func bar(part, whole int64, width int) string {
	if whole <= 0 || part <= 0 {
		return ""
	}
	eighths := min(part*int64(width)*8/whole, int64(width)*8)
	s := strings.Repeat("█", int(eighths/8))
	if r := eighths % 8; r > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[r-1])
	}
	return s
}
