// Package web makes the page that a team gathers around: a file that holds everything,
// or the same page served to this machine's browsers. What is on it is in the model that
// it is given (report.WebPage); the programs in dist/ are built from ui/.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
)

// The page's program and its looks, built by make web.
//
//go:embed dist/app.js
var script []byte

//go:embed dist/app.css
var style []byte

// Model is what a page shows.
type Model interface {
	// WebJSON writes the model, safe to stand in an HTML document.
	WebJSON(io.Writer) error
}

// Marker is in every page that File writes, near its beginning: what has it may be
// replaced by another.
const Marker = `<meta name="generator" content="dwell">`

// File writes a page that holds all it shows. It asks for nothing from anywhere, and may
// not: its policy allows only the one script and the one style sheet in it, by their hash.
func File(w io.Writer, title string, m Model) error {
	var data bytes.Buffer
	if err := m.WebJSON(&data); err != nil {
		return err
	}
	policy := "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) +
		"; base-uri 'none'; form-action 'none'"
	head := `<meta http-equiv="Content-Security-Policy" content="` + policy + `">` + "\n<style>" + string(style) + "</style>"
	body := `<script type="application/json" id="data">` + data.String() + "</script>\n<script>" + string(script) + "</script>"
	if _, err := io.WriteString(w, document(title, head, body)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// document is the page around its script and its style.
func document(title, head, body string) string {
	return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" + Marker + `
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>` + html.EscapeString(title) + "</title>\n" + head + `
</head>
<body>
<div id="app"><noscript>This page draws what is in it with JavaScript, which is off. dwell why REC says the same as text.</noscript></div>
` + body + "\n</body>\n</html>\n"
}
