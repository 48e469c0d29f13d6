package protocol

import "strings"

// FileName returns a file's name in the form that may be kept. It splits the name at dots. A part that may stand in a
// route is kept, and so is a last part of up to 8 lower-case letters, with or without a digit at its end. Every other
// part becomes {}.
func FileName(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) > maxSegments {
		return anyValue
	}
	for i, p := range parts {
		if !plain(p) && (i == 0 || i < len(parts)-1 || !extension(p)) && p != "" {
			parts[i] = anyValue
		}
	}
	return strings.Join(parts, ".")
}

// SocketName returns a Unix socket's name in the form that may be kept: a path whose parts are treated as file names,
// or @ and an abstract name.
func SocketName(name string) string {
	abstract, isAbstract := strings.CutPrefix(name, "@")
	parts := strings.Split(abstract, "/")
	for i, p := range parts {
		if port, ok := strings.CutPrefix(p, ".s.PGSQL."); ok && len(port) <= 5 && strings.Trim(port, "0123456789") == "" {
			continue // PostgreSQL's own socket
		}
		parts[i] = FileName(p)
	}
	if len(parts) > maxSegments {
		parts = append(parts[:maxSegments], "...")
	}
	if isAbstract {
		return "@" + strings.Join(parts, "/")
	}
	return strings.Join(parts, "/")
}

func extension(s string) bool {
	if s == "" || len(s) > 8 {
		return false
	}
	for i, c := range []byte(s) {
		digit := c >= '0' && c <= '9' && i > 0 && i == len(s)-1
		if (c < 'a' || c > 'z') && !digit {
			return false
		}
	}
	return true
}
