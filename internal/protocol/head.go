package protocol

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Values for the length of a body besides its Content-Length; the first two are also used in facts.
const (
	lengthChunked = -1
	lengthUnknown = -2
	lengthAbsent  = -3 // no header field states it
)

// maxMethod is the length of the longest method.
const maxMethod = 9

// methods are the request methods. The list is closed: any other word in the place of a method is not passed on.
var methods = [...]string{
	"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE", "QUERY", "PROPFIND",
	"PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE",
}

// methodOf returns s if it is a request method, otherwise "".
func methodOf(s []byte) string {
	for _, m := range methods {
		if string(s) == m {
			return m
		}
	}
	return ""
}

// startLine reports whether b could begin the first line of a message.
func startLine(b []byte, fromClient bool) match {
	if len(b) == 0 {
		return no
	}
	if !fromClient {
		return statusLine(b)
	}
	space := bytes.IndexByte(b[:min(len(b), maxMethod+1)], ' ')
	switch {
	case space > 0 && methodOf(b[:space]) != "":
		return requestTarget(b[space+1:], string(b[:space]) == "CONNECT")
	case space < 0 && len(b) <= maxMethod && isUpper(b):
		return maybe
	}
	return no
}

func isUpper(b []byte) bool {
	for _, c := range b {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// requestTarget judges the bytes after the method.
func requestTarget(b []byte, authority bool) match {
	if len(b) == 0 {
		return maybe
	}
	if c := b[0]; !authority && c != '/' && c != '*' && hasPrefix(b, "http://") == no && hasPrefix(b, "https://") == no {
		return no
	}
	line, _, whole := bytes.Cut(b, []byte("\n"))
	target, version, two := bytes.Cut(line, []byte(" "))
	for _, c := range target {
		if c <= ' ' || c == 0x7f {
			return no
		}
	}
	if whole {
		version = bytes.TrimSuffix(version, []byte("\r"))
		if string(version) != "HTTP/1.1" && string(version) != "HTTP/1.0" {
			return no
		}
		return yes
	}
	if two && hasPrefix(version, "HTTP/1.") == no {
		return no
	}
	return yes
}

func statusLine(b []byte) match {
	if m := hasPrefix(b, "HTTP/1."); m != yes {
		return m
	}
	for i, c := range b[7:min(len(b), 12)] { // "1 200"
		if (i == 1) != (c == ' ') || i != 1 && (c < '0' || c > '9') {
			return no
		}
	}
	if len(b) < 12 {
		return maybe
	}
	return yes
}

// fields is what is taken from header fields; no other field is used.
type fields struct {
	length      int64
	close       bool
	keepAlive   bool
	upgrade     bool
	eventStream bool // Content-Type
	wantsStream bool // Accept
	form        bool
	host        string
	operation   string
}

// parseFields reads the lines after the first. A last line without its end is left out.
func parseFields(b []byte) fields {
	f := fields{length: lengthAbsent}
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return f
		}
		line := b[:end]
		b = b[end+1:]
		if colon := bytes.IndexByte(line, ':'); colon > 0 {
			f.field(line[:colon], line[colon+1:])
		}
	}
}

// field takes one field. It compares lengths of names first, because most fields are not needed.
func (f *fields) field(name, value []byte) {
	switch len(name) {
	case len("host"):
		if named(name, "host") {
			f.host = hostName(trimmed(value))
		}
	case len("accept"):
		if named(name, "accept") {
			f.wantsStream = mediaType(trimmed(value), "text/event-stream")
		}
	case len("upgrade"): // curl always asks for h2c and gets no answer to that
		if named(name, "upgrade") {
			f.upgrade = !hasToken(trimmed(value), "h2c")
		}
	case len("connection"):
		if named(name, "connection") {
			v := trimmed(value)
			f.close, f.keepAlive = hasToken(v, "close"), hasToken(v, "keep-alive")
		}
	case len("content-type"): // same length as x-amz-target
		f.content(name, value)
	case len("content-length"):
		if named(name, "content-length") {
			f.length = joinLengths(f.length, contentLength(trimmed(value)))
		}
	case len("transfer-encoding"):
		if named(name, "transfer-encoding") && hasToken(trimmed(value), "chunked") {
			f.length = lengthChunked
		}
	}
}

// content takes a field that describes the body.
func (f *fields) content(name, value []byte) {
	switch {
	case named(name, "content-type"):
		v := trimmed(value)
		f.eventStream, f.form = mediaType(v, "text/event-stream"), mediaType(v, "application/x-www-form-urlencoded")
	case named(name, "x-amz-target"):
		f.operation = operationName(trimmed(value))
	}
}

func trimmed(value []byte) string { return string(bytes.TrimSpace(value)) }

// named reports whether a field's name equals want, which is in lower case.
func named(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// joinLengths takes a further Content-Length into account. Transfer-Encoding takes precedence; lengths that differ
// make the length unknown.
func joinLengths(before, n int64) int64 {
	if before == lengthAbsent || before == n {
		return n
	}
	if before == lengthChunked {
		return before
	}
	return lengthUnknown
}

// parseRequest reads a head, or the captured part of one. form: its body is a form.
func parseRequest(b []byte, complete bool) (f *recording.HTTPRequest, form, ok bool) {
	line, rest, whole := bytes.Cut(b, []byte("\n"))
	method, line, found := bytes.Cut(line, []byte(" "))
	if !found || startLine(b, true) != yes {
		return nil, false, false
	}
	target, version, hasVersion := bytes.Cut(line, []byte(" "))
	f = &recording.HTTPRequest{Method: methodOf(method)}
	t := parseTarget(f.Method, string(target), hasVersion || whole)
	f.Route, f.Host, f.Operation = t.route, t.host, t.operation
	h := parseFields(rest)
	f.Length = h.length
	if f.Host == "" {
		f.Host = h.host
	}
	if h.operation != "" {
		f.Operation = h.operation
	}
	old := bytes.HasPrefix(version, []byte("HTTP/1.0"))
	f.Close = oneIf(h.close || old && !h.keepAlive)
	f.Upgrade = oneIf(h.upgrade || h.wantsStream || f.Method == "CONNECT")
	if complete {
		f.Head = int64(len(b))
	}
	switch {
	case f.Length != lengthAbsent:
	case complete:
		f.Length = 0
	default:
		f.Length = lengthUnknown
	}
	return f, h.form && f.Method == "POST", true
}

// parseResponse reads a head, or the captured part of one. method is that of the request it answers, "" if unknown.
func parseResponse(b []byte, complete bool, method string) (f *recording.HTTPResponse, ok bool) {
	if statusLine(b) != yes {
		return nil, false
	}
	f = &recording.HTTPResponse{Status: int64(b[9]-'0')*100 + int64(b[10]-'0')*10 + int64(b[11]-'0')}
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	h := parseFields(rest)
	f.Length = h.length
	if f.Length == lengthAbsent { // the body ends with the connection
		f.Length = lengthUnknown
	}
	f.Close = oneIf(h.close || b[7] == '0' && !h.keepAlive)
	f.Upgrade = oneIf(h.eventStream || f.Status == 101)
	if method == "HEAD" || f.Status == 204 || f.Status == 304 || f.Status < 200 {
		f.Length = 0
	}
	if complete {
		f.Head = int64(len(b))
	}
	return f, true
}

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// contentLength reads a decimal length, or returns lengthUnknown.
func contentLength(s string) int64 {
	if s == "" || len(s) > 17 {
		return lengthUnknown
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return lengthUnknown
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n
}

// hasToken reports whether a comma-separated list contains token.
func hasToken(list, token string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

func mediaType(v, want string) bool {
	v, _, _ = strings.Cut(v, ";")
	return strings.EqualFold(strings.TrimSpace(v), want)
}

// hostName returns the name in a host with or without port, in lower case; "" for addresses and for invalid host
// names.
func hostName(s string) string {
	if strings.Contains(s, "@") {
		return "" // it may contain a name and a password
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		s = s[:i]
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return ""
	}
	if last := s[len(s)-1]; last >= '0' && last <= '9' { // an IPv6 address contains characters that no name has
		if _, err := netip.ParseAddr(s); err == nil {
			return ""
		}
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return ""
		}
	}
	return s
}

// operationName accepts text that looks like the name of an API operation.
func operationName(s string) string {
	if len(s) > 80 {
		return ""
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return ""
		}
	}
	return s
}
