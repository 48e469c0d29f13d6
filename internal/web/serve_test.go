package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/web"
)

// A client that was not given the address gets nothing, nor do pages of other sites in a browser on this machine.
func TestServedIsForWhoKnowsItsAddress(t *testing.T) {
	const host = "127.0.0.1:4321"
	s := &web.Served{Host: host, Token: "secret", Title: "x", Data: []byte(`{"kind":"recording"}`), Ask: map[string]func(url.Values) (any, error){
		"request.json": func(q url.Values) (any, error) {
			if q.Get("id") != "7" {
				return nil, errors.New("no such request")
			}
			return map[string]int{"id": 7}, nil
		},
	}}
	for _, c := range []struct {
		what, method, host, path, origin, site string
		status                                 int
		holds                                  string
	}{
		{"the page", "GET", host, "/secret/", "", "none", 200, `<script src="app.js">`},
		{"its data", "GET", host, "/secret/data.json", "http://" + host, "same-origin", 200, "recording"},
		{"a request", "GET", host, "/secret/request.json?id=7", "", "same-origin", 200, `"id":7`},
		{"none of its requests", "GET", host, "/secret/request.json?id=8", "", "", 400, "no such request"},
		{"without the token", "GET", host, "/data.json", "", "", 404, ""},
		{"with another", "GET", host, "/secreT/data.json", "", "", 404, ""},
		{"from another site", "GET", host, "/secret/data.json", "http://evil.example", "", 403, ""},
		{"as an image there", "GET", host, "/secret/data.json", "", "cross-site", 403, ""},
		{"by a name that leads here", "GET", "evil.example:4321", "/secret/data.json", "", "", 403, ""},
		{"to change something", "POST", host, "/secret/data.json", "", "", 405, ""},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+c.path, nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r.Header.Set("Sec-Fetch-Site", c.site)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%s: %d %.80q, want %d with %q", c.what, w.Code, w.Body, c.status, c.holds)
		}
		if c.status >= 400 && strings.Contains(w.Body.String(), "recording") {
			t.Errorf("%s: gets %q", c.what, w.Body)
		}
		if policy := w.Result().Header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: policy %q", c.what, policy)
		}
	}
	var _ http.Handler = s
}

// While there is no page yet, its address says so, and serves what has been recorded so far on request.
func TestServedBeforeThereIsAPage(t *testing.T) {
	const host = "127.0.0.1:4321"
	made := 0
	s := &web.Served{Host: host, Token: "secret", Title: "rec", Waiting: func() string { return "Recording <3s>" }, SoFar: func() error {
		if made++; made == 1 {
			return errors.New("nothing is written yet")
		}
		return nil
	}}
	for _, c := range []struct {
		path   string
		status int
		holds  string
	}{
		{"/secret/", 200, "<h1>Recording &lt;3s&gt;</h1>"},
		{"/secret/", 200, `<meta http-equiv="refresh"`},
		{"/other/so-far", 404, ""},
		{"/secret/so-far", 503, "nothing is written yet"},
		{"/secret/so-far", 303, ""},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://"+host+c.path, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%s: %d %.300q, want %d with %q", c.path, w.Code, w.Body, c.status, c.holds)
		}
	}
	if made != 2 {
		t.Errorf("what there is so far was made %d times, want 2", made)
	}
}
