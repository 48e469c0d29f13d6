package web

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
)

// Served is a page that is served to browsers on this machine.
type Served struct {
	Host  string // address and port, as in the page's address
	Token string // first part of its path: without it a client gets nothing
	Title string
	Data  []byte // the model as JSON
	// Waiting, if not nil, says what is known while there is no page yet; a browser asks again every second.
	Waiting func() string
	// SoFar, if not nil, makes a page of what has been recorded so far, on request.
	SoFar func() error
	// Ask answers what the page requests later, by the name of the request.
	Ask map[string]func(url.Values) (any, error)
}

// policy of a served page: nothing from other origins, no inline script or style, no frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler. Pages of other sites in a browser on this machine get no answer. They do not
// know the token, or their host name is not Host (a name that was made to resolve to this machine), or their Origin
// differs.
func (s *Served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Host != s.Host || origin != "" && origin != "http://"+s.Host || site == "cross-site" || site == "same-site":
		http.Error(w, "this page is for browsers that were given its address", http.StatusForbidden)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "there is only something to read here", http.StatusMethodNotAllowed)
		return
	}
	token, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1 {
		http.NotFound(w, r)
		return
	}
	s.file(w, r, name)
}

func (s *Served) file(w http.ResponseWriter, r *http.Request, name string) {
	write := func(kind string, text []byte) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Write(text)
	}
	switch name {
	case "so-far":
		s.soFar(w, r)
	case "":
		if s.Waiting != nil {
			write("text/html", []byte(s.waiting()))
			return
		}
		write("text/html", []byte(document(s.Title, `<link rel="stylesheet" href="app.css">`, `<script src="app.js"></script>`)))
	case "app.js":
		write("text/javascript", script)
	case "app.css":
		write("text/css", style)
	case "data.json":
		w.Header().Set("Content-Type", "application/json")
		w.Write(s.Data)
	default:
		s.answer(w, r, name)
	}
}

// waiting returns the document shown until there is a page: it reloads by itself, without a script.
func (s *Served) waiting() string {
	more := ""
	if s.SoFar != nil {
		more = `<p class="where-goes">The recording's page comes here when it is over. <a href="so-far">What is recorded so far</a> is worked out by a process of its own, ` +
			"which lets the service go first and takes at most a tenth of a processor's time; asked for again later, <code>so-far</code> shows more.</p>"
	}
	return document(s.Title, `<meta http-equiv="refresh" content="1;url=./"><link rel="stylesheet" href="app.css">`,
		`<header class="head"><div class="who"><span class="logo" aria-hidden="true"><i></i><i></i><i></i></span><p><b>dwell</b><small>`+html.EscapeString(s.Title)+
			`</small></p></div></header><main><section class="answer look"><h1>`+html.EscapeString(s.Waiting())+"</h1>"+more+"</section></main>")
}

func (s *Served) soFar(w http.ResponseWriter, r *http.Request) {
	if s.SoFar == nil {
		http.NotFound(w, r)
		return
	}
	if err := s.SoFar(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

func (s *Served) answer(w http.ResponseWriter, r *http.Request, name string) {
	ask, ok := s.Ask[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	v, err := ask(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, fmt.Sprintf("write the answer: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}
