package protocol

import (
	"bytes"

	"github.com/getdwell/dwell/recording"
)

const (
	maxCommandName = 24
	maxRESP        = 1 << 40 // of a length or a count
)

// redis is the grammar of RESP, versions 2 and 3. Commands are arrays of strings. Only the first string, the
// command's name, is used.
type redis struct {
	args  int64 // strings of the open command still to come
	named bool
	need  int64 // elements of the open reply still to come
}

// starts implements grammar.
func (r *redis) starts(b []byte, fromClient bool) match {
	if fromClient {
		return redisStart(b)
	}
	if len(b) == 0 {
		return no
	}
	if len(b) == 1 {
		return match(oneIf(bytes.IndexByte([]byte("+-(,#:$*_!=%~>|"), b[0]) >= 0))
	}
	next := b[1]
	switch b[0] {
	case '+', '-': // a word: a value that was cut off may well begin like that
		return match(2 * oneIf(next >= 'A' && next <= 'Z'))
	case '(', ',', '#':
		return match(2 * oneIf(next >= '0' && next <= '9' || next == '-' || next == 't' || next == 'f'))
	case ':', '$', '*', '_', '!', '=', '%', '~', '>', '|':
		if _, _, m := respNumber(b); m == no && string(b[:min(len(b), 3)]) != "_\r\n" {
			return no
		}
		return yes
	}
	return no
}

// redisStart reports whether b could begin a command: an array whose first string looks like a name.
func redisStart(b []byte) match {
	if len(b) == 0 || b[0] != '*' {
		return no
	}
	n, size, m := respNumber(b)
	if m != yes {
		return m
	}
	if n < 1 {
		return no
	}
	b = b[size:]
	if len(b) == 0 {
		return maybe
	}
	if b[0] != '$' {
		return no
	}
	n, size, m = respNumber(b)
	if m != yes {
		return m
	}
	if n < 1 || n > maxCommandName {
		return no
	}
	name := b[size:]
	if commandName(name[:min(int(n), len(name))]) == "" && len(name) > 0 {
		return no
	}
	if len(name) < int(n) {
		return maybe
	}
	return hasPrefix(name[n:], "\r\n")
}

// commandName returns a name in upper case, or "" if it is not one.
func commandName(b []byte) string {
	for _, c := range b {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '_' {
			return ""
		}
	}
	return string(bytes.ToUpper(b))
}

// respNumber reads the number between a type's letter and the end of the line.
func respNumber(b []byte) (n int64, size int, m match) {
	negative := false
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '-' && i == 1:
			negative = true
		case c >= '0' && c <= '9' && n < maxRESP/10:
			n = n*10 + int64(c-'0')
		case c == '\r' && i > 1 && b[i-1] != '-':
			if negative {
				n = -n
			}
			if i+1 == len(b) {
				return n, 0, maybe
			}
			if b[i+1] != '\n' {
				return 0, 0, no
			}
			return n, i + 2, yes
		default:
			return 0, 0, no
		}
	}
	return n, 0, maybe
}

// element implements grammar.
func (r *redis) element(d *dialogue, fromClient bool, p piece) int64 {
	if fromClient {
		return r.ask(d, p.at, p.b)
	}
	return r.answer(d, p.at, p.b)
}

// reset implements grammar.
func (r *redis) reset(fromClient bool) {
	if fromClient {
		r.args = 0
	} else {
		r.need = 0
	}
}

// ask takes the head of a command, or one of its strings.
func (r *redis) ask(d *dialogue, at int64, b []byte) int64 {
	want := byte('$')
	if r.args == 0 {
		want = '*'
	}
	n, size, m := respNumber(b)
	switch {
	case b[0] != want || m == no:
		return -1
	case m == maybe:
		return 0
	case want == '*':
		if n > 0 {
			d.asks(at)
			r.args, r.named = n, false
		}
		return int64(size)
	case n < 0:
		return -1
	}
	whole := int64(size) + n + 2
	if !r.named && n <= maxCommandName {
		if int64(len(b)) < whole {
			return 0
		}
		f := d.asks(at)
		f.Operation = redisCommand(commandName(b[size : size+int(n)]))
	}
	r.named = true
	if r.args--; r.args == 0 {
		d.deaf = d.deaf || subscribes(d.command)
		d.asked(at + whole)
	}
	return whole
}

// subscribes reports whether the server sends unsolicited data after a command.
func subscribes(f *recording.Command) bool {
	if f == nil {
		return false
	}
	switch f.Operation {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC":
		return true
	}
	return false
}

// answer takes one element of a reply.
func (r *redis) answer(d *dialogue, at int64, b []byte) int64 {
	n, size, ok := r.length(b)
	if size <= 0 {
		return int64(size)
	}
	kind, first := b[0], r.need == 0
	if first {
		r.need = 1
		if kind != '>' && kind != '|' && d.answers(at) { // these come unsolicited
			d.reply.Outcome, d.reply.Code = outcome(b, n, ok)
		}
	}
	switch kind {
	case '*', '~', '>':
		r.need += max(n, 0)
	case '%':
		r.need += 2 * max(n, 0)
	case '|':
		r.need += 2 * max(n, 0)
		if !first {
			r.need++ // it annotates the element that follows
		}
	case '$', '!', '=':
		if n >= 0 {
			size += int(n) + 2
		}
	}
	if r.need > maxRESP {
		return -1
	}
	if r.need--; r.need == 0 {
		d.answered(at + int64(size))
	}
	return int64(size)
}

// length reads the head of an element: its line, and its number if it has one. size is 0 if the line is incomplete,
// and negative if this is not an element.
func (r *redis) length(b []byte) (n int64, size int, numbered bool) {
	switch b[0] {
	case '+', '-', ':', ',', '#', '(', '_':
		i := bytes.IndexByte(b, '\n')
		if i < 2 && i >= 0 || i >= 0 && b[i-1] != '\r' {
			return 0, -1, false
		}
		return 0, i + 1, false
	case '$', '!', '=', '*', '~', '%', '>', '|':
		n, size, m := respNumber(b)
		if m == no || m == yes && n < -1 {
			return 0, -1, true
		}
		return n, size, true
	}
	return 0, -1, false
}

// outcome returns the result stated by the first element of a reply, which has number n if numbered.
func outcome(b []byte, n int64, numbered bool) (recording.Outcome, string) {
	switch {
	case b[0] == '-':
		return recording.OutcomeError, errorWord(b[1:])
	case b[0] == '!':
		return recording.OutcomeError, ""
	case b[0] == '_', numbered && n < 0:
		return recording.OutcomeNone, ""
	}
	return recording.OutcomeOK, ""
}

// errorWord returns the first word of an error, by which clients distinguish errors.
func errorWord(b []byte) string {
	i := bytes.IndexAny(b, " \r")
	if i < 1 || i > maxCommandName {
		return ""
	}
	return redisError(string(b[:i]))
}
