package report

// Source returns the lines from..to of a source file, counted from 1, both included. It returns none if the file
// cannot be found or is not the one that runs.
type Source func(file string, from, to int64) []string

// CodeLine is one line of source code.
type CodeLine struct {
	Line int64  `json:"line"`
	Text string `json:"text"`
}

// codeAround is how many lines are shown before and after the one that matters.
const codeAround = 1

// code returns the lines around a frame; none without a source.
func (s Source) code(f *Frame) []CodeLine {
	if s == nil || f.Line <= 0 || f.File == "" {
		return nil
	}
	from := max(1, f.Line-codeAround)
	var out []CodeLine
	for i, text := range s(f.sourcePath(), from, f.Line+codeAround) {
		out = append(out, CodeLine{from + int64(i), text})
	}
	return out
}

// codeLines prints lines of code and marks the one that matters.
func codeLines(p *page, indent string, f *Frame) {
	for _, c := range f.Code {
		mark, s := "  ", dim
		if c.Line == f.Line {
			mark, s = "> ", plain
		}
		p.line(s, "%s%s%s  %s", indent, mark, pad(thousandless(c.Line), -4), untabbed(c.Text))
	}
}

// untabbed replaces tabs, and characters that a terminal might take for commands.
func untabbed(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		switch {
		case r == '\t':
			out = append(out, ' ', ' ')
		case r >= ' ' && r != 0x7f:
			out = append(out, r)
		}
	}
	return string(out)
}
