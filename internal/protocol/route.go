package protocol

import "strings"

const (
	maxSegments = 16     // of a route; deeper parts become "..."
	maxValues   = 50     // of one position in Routes
	maxNodes    = 20_000 // of a Routes
	anyValue    = "{}"
)

// Route turns a path without query into a route. It keeps a segment of 2 to 24 lower-case letters, _ and -, or of v
// and digits, and a few segments that standards define. Every other segment becomes {}.
func Route(path string) string {
	if path == "" || path[0] != '/' {
		return "/" + anyValue
	}
	if allPlain(path) {
		return path
	}
	var b strings.Builder
	n := 0
	for segment := range strings.SplitSeq(path[1:], "/") {
		b.WriteByte('/')
		if n++; n > maxSegments {
			b.WriteString("...")
			break
		}
		if segment != "" && !plain(segment) {
			segment = anyValue
		}
		b.WriteString(segment)
	}
	return b.String()
}

// allPlain reports whether a path is its own route.
func allPlain(path string) bool {
	n := 0
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if n++; n > maxSegments || segment != "" && !plain(segment) {
			return false
		}
	}
	return true
}

// plain reports whether a segment may be shown.
func plain(s string) bool {
	switch s { // these identify endpoints for tokens, keys and telemetry
	case ".well-known", "jwks.json", "oauth2", "v2.0", "computeMetadata", "v0.3", "v0.4", "v0.5":
		return true
	}
	if len(s) < 2 || len(s) > 24 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	word, version := true, s[0] == 'v'
	for i := 1; i < len(s); i++ {
		c := s[i]
		word = word && (c >= 'a' && c <= 'z' || c == '_' || c == '-')
		version = version && c >= '0' && c <= '9'
	}
	return word || version
}

// Routes finds positions in routes that hold identifiers although these look like words: positions with more than 50
// values. The zero Routes is ready to use. Its memory is bounded; when it is full, new values count as identifiers.
type Routes struct {
	root  routeNode
	nodes int
	known map[string]string // results of Of since the last change
}

const maxKnown = 1024

// Of takes into account a route as returned by Route. It returns it with {} at the positions found so far.
func (r *Routes) Of(route string) string {
	if collapsed, ok := r.known[route]; ok {
		return collapsed
	}
	route = strings.Clone(route) // it may be a substring of a request's target, and is kept
	if r.Add(route) || len(r.known) >= maxKnown {
		r.known = nil
	}
	if r.known == nil {
		r.known = map[string]string{}
	}
	collapsed := r.Collapse(route)
	r.known[route] = collapsed
	return collapsed
}

type routeNode struct {
	next map[string]*routeNode
	any  bool // more than maxValues: the only key is anyValue
}

// Add takes into account a route as returned by Route. It reports whether that changed anything.
func (r *Routes) Add(route string) (changed bool) {
	node := &r.root
	for segment := range segments(route) {
		if node.any {
			segment = anyValue
		}
		child := node.next[segment]
		if child == nil {
			if r.nodes >= maxNodes && segment != anyValue {
				segment = anyValue
				child = node.next[segment]
			}
			if child == nil {
				child = node.add(segment)
				r.nodes++
				changed = true
			}
		}
		if len(node.next) > maxValues {
			child = node.collapse()
		}
		node = child
	}
	return changed
}

// Collapse returns the route with {} at the positions found so far.
func (r *Routes) Collapse(route string) string {
	var b strings.Builder
	node := &r.root
	for segment := range segments(route) {
		if node != nil && (node.any || node.next[segment] == nil && node.next[anyValue] != nil) {
			segment = anyValue
		}
		b.WriteByte('/')
		b.WriteString(segment)
		if node != nil {
			node = node.next[segment]
		}
	}
	return b.String()
}

func segments(route string) func(func(string) bool) {
	return strings.SplitSeq(strings.TrimPrefix(route, "/"), "/")
}

func (n *routeNode) add(segment string) *routeNode {
	if n.next == nil {
		n.next = map[string]*routeNode{}
	}
	child := &routeNode{}
	n.next[segment] = child
	return child
}

// collapse replaces all values of a position with one.
func (n *routeNode) collapse() *routeNode {
	merged := &routeNode{}
	for _, child := range n.next {
		merged.merge(child)
	}
	n.next, n.any = map[string]*routeNode{anyValue: merged}, true
	return merged
}

// merge takes over everything below other. The result does not depend on the order.
func (n *routeNode) merge(other *routeNode) {
	for segment, child := range other.next {
		if n.any {
			segment = anyValue
		}
		mine := n.next[segment]
		if mine == nil {
			mine = n.add(segment)
		}
		mine.merge(child)
		if other.any && !n.any || len(n.next) > maxValues {
			n.collapse()
		}
	}
}
