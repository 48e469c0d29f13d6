// Package marked keeps what tools measure in its place in a document.
package marked

import (
	"bytes"
	"fmt"
	"os"
)

// Replace puts text between the lines of a document that begin and end the output of a make
// target; the document "" prints it.
func Replace(document, target string, text []byte) error {
	if document == "" {
		_, err := os.Stdout.Write(text)
		return err
	}
	begin, end := fmt.Appendf(nil, "<!-- make %s begin -->\n", target), fmt.Appendf(nil, "<!-- make %s end -->\n", target)
	all, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(all, begin)
	_, after, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s: no place for the output of make %s, between %q and %q", document, target, begin, end)
	}
	return os.WriteFile(document, bytes.Join([][]byte{before, begin, text, end, after}, nil), 0o644)
}
