package report

import "io"

// TextOptions say how text is laid out.
type TextOptions struct {
	Color bool
	Width int // columns; 0 is 100
}

// Text writes the report so that it fits one screen.
func Text(w io.Writer, r *Report, o TextOptions) error { return nil }
