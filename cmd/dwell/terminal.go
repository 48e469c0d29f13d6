package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

const defaultWidth = 100

// terminal returns the width of w in columns, and whether it is a terminal at all.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return defaultWidth, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = defaultWidth
	}
	return width, true
}

// useColor decides whether output to out is coloured.
func (g *globals) useColor(out io.Writer, getenv func(string) string) bool {
	_, tty := terminal(out)
	return tty && !g.noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
