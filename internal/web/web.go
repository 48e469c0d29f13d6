// Package web makes the page that a team shares: a file that contains everything, or the same page served to browsers
// on this machine. Its content is the model that it is given (report.WebPage); the programs in dist/ are built from
// ui/.
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

// The page's program and its style sheet, built by make web.
//
//go:embed dist/app.js
var script []byte

//go:embed dist/app.css
var style []byte

// Model is the content of a page.
type Model interface {
	// WebJSON writes the model, safe in an HTML document.
	WebJSON(io.Writer) error
}

// Marker is near the beginning of every page that File writes: a file with it may be replaced by another page.
const Marker = `<meta name="generator" content="dwell">`

// File writes a self-contained page. It loads nothing, and cannot: its policy allows only its own script and style
// sheet, by their hashes.
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

// document returns the page around its script and its style.
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
