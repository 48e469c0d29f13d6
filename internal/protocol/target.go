package protocol

import "strings"

// target is the part of a request's target that is kept.
type target struct {
	route, host, operation string
}

// parseTarget reads origin-form (/path?query), absolute-form (http://host/path) and
// authority-form (host:port, of CONNECT). whole: s was not cut.
func parseTarget(method, s string, whole bool) target {
	var t target
	if method == "CONNECT" {
		if whole {
			t.host = hostName(s)
		}
		return t
	}
	if s == "*" {
		return target{route: "*"}
	}
	if i := strings.Index(s, "://"); i >= 0 && !strings.HasPrefix(s, "/") {
		authority, rest := s[i+3:], ""
		if j := strings.IndexAny(authority, "/?#"); j >= 0 {
			authority, rest = authority[:j], authority[j:]
		} else if !whole {
			return t
		}
		authority = authority[strings.LastIndexByte(authority, '@')+1:] // without names and passwords
		t.host = hostName(authority)
		if s = rest; !strings.HasPrefix(s, "/") {
			s = "/" + s
		}
	}
	path, query, found := strings.Cut(s, "?")
	path, _, _ = strings.Cut(path, "#")
	t.route = Route(path)
	if !found && !whole { // the last segment may have been cut
		t.route = t.route[:strings.LastIndexByte(t.route, '/')+1] + "{}"
	}
	t.operation = action(query, whole)
	return t
}

// action finds the value of the parameter Action, with which the query APIs of AWS name the operation, or of
// grant_type, with which OAuth names the kind of token request. No other parameter is used. whole: s was not cut.
func action(s string, whole bool) string {
	for s != "" {
		param, rest, more := strings.Cut(s, "&")
		if !more && !whole {
			break
		}
		if value, ok := strings.CutPrefix(param, "Action="); ok {
			return actionName(value)
		}
		if value, ok := strings.CutPrefix(param, "grant_type="); ok {
			return grantType(value)
		}
		s = rest
	}
	return ""
}

// grantType accepts the grant types of OAuth: a closed list.
func grantType(s string) string {
	s = strings.NewReplacer("%3A", ":", "%3a", ":", "%5F", "_", "%5f", "_").Replace(s)
	s = strings.TrimPrefix(s, "urn:ietf:params:oauth:grant-type:")
	switch s {
	case "authorization_code", "client_credentials", "password", "refresh_token", "device_code", "jwt-bearer",
		"saml2-bearer", "token-exchange", "uma-ticket":
		return "grant_type:" + s
	}
	return ""
}

// actionName accepts names such as SendMessage.
func actionName(s string) string {
	if s == "" || len(s) > 64 || s[0] < 'A' || s[0] > 'Z' {
		return ""
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return ""
		}
	}
	return s
}

// formAction finds the Action in the captured beginning of a form of length bytes.
func formAction(b []byte, length int64) string {
	whole := int64(len(b)) >= length
	if whole {
		b = b[:length]
	}
	return action(string(b), whole)
}

// laterAction finds the Action in a chunk after a head whose end was not captured. The chunk must begin with it,
// because it may be any part of the body.
func laterAction(b []byte, whole bool) string {
	s := string(b)
	if !strings.HasPrefix(s, "Action=") && !strings.HasPrefix(s, "grant_type=") {
		return ""
	}
	return action(s, whole)
}
