package protocol

import "bytes"

// sqlLexer reads the words of SQL. It knows no grammar, but skips comments and literals.
type sqlLexer struct {
	b     []byte
	i     int
	depth int  // of parentheses
	whole bool // b is not cut
	mysql bool // names are quoted with `, and " quotes a string like '
}

type sqlKind int

const (
	sqlEnd sqlKind = iota
	sqlWord
	sqlOpen
	sqlOther // punctuation, numbers, literals
)

// sqlToken is a word or a name; other tokens have no text.
type sqlToken struct {
	kind   sqlKind
	text   string
	quoted bool
	cut    bool // it may continue after the captured bytes
}

// next returns the next token. It returns sqlEnd after the last one and at the end of the first statement.
func (x *sqlLexer) next() sqlToken {
	x.space()
	if x.i >= len(x.b) {
		return sqlToken{}
	}
	switch c := x.b[x.i]; {
	case c == ';':
		return x.stop()
	case wordByte(c) && (c < '0' || c > '9'):
		return x.word()
	case c == '"' && !x.mysql || c == '`' && x.mysql:
		return x.quotedName(c)
	case c == '\'' || c == '"':
		return x.literal(c, false)
	case c == '$':
		return x.dollar()
	case c == '(':
		x.i++
		x.depth++
		return sqlToken{kind: sqlOpen}
	case c == ')':
		x.depth--
		x.i++
	case c >= '0' && c <= '9':
		for x.i < len(x.b) && (wordByte(x.b[x.i]) || x.b[x.i] == '.') {
			x.i++
		}
	default:
		x.i++
	}
	return sqlToken{kind: sqlOther}
}

// stop ignores everything that follows.
func (x *sqlLexer) stop() sqlToken {
	x.i = len(x.b)
	return sqlToken{}
}

// space skips white space and comments.
func (x *sqlLexer) space() {
	for x.i < len(x.b) {
		rest := x.b[x.i:]
		switch {
		case rest[0] == ' ' || rest[0] >= '\t' && rest[0] <= '\r':
			x.i++
		case bytes.HasPrefix(rest, []byte("--")), rest[0] == '#' && x.mysql:
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest) - 1
			}
			x.i += n + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			x.comment()
		default:
			return
		}
	}
}

// comment skips a comment, which may contain others.
func (x *sqlLexer) comment() {
	open := 0
	for x.i < len(x.b) {
		rest := x.b[x.i:]
		switch {
		case bytes.HasPrefix(rest, []byte("/*")):
			open++
			x.i += 2
		case bytes.HasPrefix(rest, []byte("*/")):
			x.i += 2
			if open--; open == 0 {
				return
			}
		default:
			x.i++
		}
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// word reads a word, or the literal that a word of one letter begins: E'...', B'...'.
func (x *sqlLexer) word() sqlToken {
	from := x.i
	for x.i < len(x.b) && (wordByte(x.b[x.i]) || x.b[x.i] == '$') {
		x.i++
	}
	t := sqlToken{kind: sqlWord, text: string(x.b[from:x.i]), cut: x.i == len(x.b) && !x.whole}
	if x.i < len(x.b) && x.b[x.i] == '\'' {
		return x.literal('\'', t.text == "e" || t.text == "E")
	}
	if x.i+1 < len(x.b) && x.b[x.i] == '&' && x.i-from == 1 { // U&'...', U&"..."
		return x.stop()
	}
	return t
}

func (x *sqlLexer) quotedName(quote byte) sqlToken {
	from := x.i + 1
	n := bytes.IndexByte(x.b[from:], quote)
	if n < 0 {
		return x.stop()
	}
	x.i = from + n + 1
	if x.i < len(x.b) && x.b[x.i] == quote { // it contains a quote: the name is not kept
		return x.stop()
	}
	return sqlToken{kind: sqlWord, quoted: true, text: string(x.b[from : from+n]), cut: x.i == len(x.b) && !x.whole}
}

// literal skips a string. Whether a backslash escapes the quote after it depends on a setting of the server. In such
// a case nothing after it is read.
func (x *sqlLexer) literal(quote byte, escapes bool) sqlToken {
	for x.i++; x.i < len(x.b); x.i++ {
		switch c := x.b[x.i]; {
		case c == '\\' && escapes:
			x.i++
		case c == '\\' && (x.mysql || x.i+1 < len(x.b) && x.b[x.i+1] == quote):
			return x.stop()
		case c == quote && x.i+1 < len(x.b) && x.b[x.i+1] == quote:
			x.i++
		case c == quote:
			x.i++
			return sqlToken{kind: sqlOther}
		}
	}
	return x.stop()
}

// dollar skips a parameter, $1, or a string between equal tags, $tag$...$tag$.
func (x *sqlLexer) dollar() sqlToken {
	from := x.i
	for x.i++; x.i < len(x.b) && wordByte(x.b[x.i]); x.i++ {
	}
	if x.i < len(x.b) && x.b[x.i] == '$' {
		x.i++
		tag := x.b[from:x.i]
		n := bytes.Index(x.b[x.i:], tag)
		if n < 0 {
			return x.stop()
		}
		x.i += n + len(tag)
	}
	return sqlToken{kind: sqlOther}
}
