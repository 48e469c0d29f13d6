package protocol

import (
	"bytes"
	"strings"
)

// maxTable is the maximum length of a table's name in PostgreSQL.
const maxTable = 63

// sqlShape reads the verb and the table of the first statement of a text, or of its captured part: then whole is
// false, and its last word may be cut. Literals are skipped. If the end of a literal is doubtful, nothing after it is
// read.
func sqlShape(text []byte, whole bool) shape {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text, whole = text[:i], true
	}
	return statementShape(&sqlLexer{b: text, whole: whole})
}

func statementShape(x *sqlLexer) shape {
	t := x.next()
	for t.kind == sqlOpen {
		t = x.next()
	}
	verb := sqlVerb([]byte(t.text))
	if t.kind != sqlWord || t.quoted || verb == "" || t.cut {
		return shape{}
	}
	if verb == "WITH" {
		if verb = x.afterWith(); verb == "" {
			return shape{verb: "WITH"}
		}
	}
	if verb == "SELECT" && x.one() {
		return shape{verb, "1"}
	}
	return shape{verb, x.table(verb)}
}

// one reports whether the rest of a statement is just 1, as in a statement that only tests the connection.
func (x *sqlLexer) one() bool {
	return x.whole && string(bytes.Trim(x.b[x.i:], " \t\r\n;")) == "1"
}

// sqlVerb returns the verb with which b begins, in upper case, or "" if it is not in a closed list: any other word in
// its place is not passed on.
func sqlVerb(b []byte) string {
	n := 0
	for n < len(b) && n <= maxCommandName && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	switch verb := strings.ToUpper(string(b[:n])); verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "COPY", "TRUNCATE", "CALL", "DO",
		"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET", "SHOW", "RESET",
		"PREPARE", "EXECUTE", "DEALLOCATE", "DECLARE", "FETCH", "MOVE", "CLOSE", "DISCARD", "LISTEN", "NOTIFY", "UNLISTEN",
		"CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "COMMENT", "LOCK", "EXPLAIN", "ANALYZE", "VACUUM", "REINDEX",
		"CLUSTER", "REFRESH", "CHECKPOINT", "REASSIGN", "SECURITY", "IMPORT", "LOAD", "REPLACE", "UPSERT", "USE":
		return verb
	}
	return ""
}

// afterWith finds the verb that follows the common table expressions.
func (x *sqlLexer) afterWith() string {
	for t := x.next(); t.kind != sqlEnd; t = x.next() {
		if t.kind != sqlWord || t.quoted || x.depth != 0 || t.cut {
			continue
		}
		switch verb := sqlVerb([]byte(t.text)); verb {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES":
			return verb
		}
	}
	return ""
}

// table finds the table that a statement is about: the first one that it names.
func (x *sqlLexer) table(verb string) string {
	before := ""
	switch verb {
	case "SELECT", "DELETE":
		before = "from"
	case "INSERT", "MERGE":
		before = "into"
	case "CREATE", "ALTER", "DROP":
		before = "table"
	case "UPDATE", "COPY", "TRUNCATE", "TABLE", "CALL", "LOCK", "VACUUM", "ANALYZE":
		return x.name(x.next())
	default:
		return ""
	}
	compared := false // IS DISTINCT FROM a value
	for depth := x.depth; ; {
		t := x.next()
		keyword := t.kind == sqlWord && !t.quoted
		switch {
		case t.kind == sqlEnd || t.cut:
			return ""
		case !keyword || compared || !strings.EqualFold(t.text, before) || x.depth != depth:
			compared = keyword && strings.EqualFold(t.text, "distinct")
			continue
		}
		if t = x.next(); t.kind != sqlOpen {
			return x.name(t)
		}
		depth = x.depth // FROM (SELECT ... FROM table)
	}
}

// name reads the name that begins with t. If names are joined by dots, it returns the last.
func (x *sqlLexer) name(t sqlToken) string {
	for t.kind == sqlWord && !t.quoted && noise(t.text) {
		t = x.next()
	}
	for t.kind == sqlWord && !t.cut {
		if x.i >= len(x.b) || x.b[x.i] != '.' {
			return tableName(t)
		}
		x.i++
		t = x.next()
	}
	return ""
}

// noise reports whether a word may precede a name.
func noise(s string) bool {
	switch strings.ToLower(s) {
	case "only", "table", "if", "not", "exists", "lateral", "verbose", "full", "freeze", "analyze":
		return true
	}
	return false
}

// tableName returns a table's name with {} for digits, because these may identify a tenant or a day.
func tableName(t sqlToken) string {
	s := t.text
	if !t.quoted {
		s = strings.ToLower(s)
	}
	if s == "" || len(s) > maxTable {
		return ""
	}
	var b strings.Builder
	runs := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if i == 0 || s[i-1] < '0' || s[i-1] > '9' {
				b.WriteString(anyValue)
				runs++
			}
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			b.WriteByte(c)
		default:
			return ""
		}
	}
	if runs > 2 { // a name made of digits and letters throughout is an id
		return anyValue
	}
	return b.String()
}
