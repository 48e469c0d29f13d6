package timeline

import "github.com/getdwell/dwell/recording"

// requestAt is the head of a request, in less memory than its fact: there is one for each request.
type requestAt struct {
	at                   Time
	Offset, Head, Length int64
	*requestBy
}

// requestBy is what the heads of many requests have in common.
type requestBy struct {
	Method, Route, Host, Operation string
	Upgrade                        int64
}

// responseAt is the head of a response, likewise.
type responseAt struct {
	at                   Time
	Offset, Head, Length int64
	*responseBy
}

// responseBy is what the heads of many responses have in common.
type responseBy struct{ Status, Upgrade int64 }

// heads are what heads have in common, each once.
type heads struct {
	asks    shared[requestBy]
	answers shared[responseBy]
	by      RequestBy // of the request at hand
}

func (h *heads) request(at Time, x *recording.HTTPRequest) requestAt {
	return requestAt{at, x.Offset, x.Head, x.Length, h.asks.of(requestBy{x.Method, x.Route, x.Host, x.Operation, x.Upgrade})}
}

func (h *heads) response(at Time, x *recording.HTTPResponse) responseAt {
	return responseAt{at, x.Offset, x.Head, x.Length, h.answers.of(responseBy{x.Status, x.Upgrade})}
}

// shared keeps values, those that are equal once: the first many of them.
type shared[T comparable] struct {
	all  map[T]*T
	last *T
}

// manyShared bounds how many values are looked for.
const manyShared = 1 << 14

func (s *shared[T]) of(v T) *T {
	if s.last != nil && *s.last == v {
		return s.last
	}
	same := s.all[v]
	if same == nil {
		if s.all == nil {
			s.all = map[T]*T{}
		}
		if same = &v; len(s.all) < manyShared {
			s.all[v] = same
		}
	}
	s.last = same
	return same
}

// dropHeads lets go of the heads of messages, of which requests and calls have been made.
func (f *facts) dropHeads() {
	f.heads = heads{}
	for i := range f.conns {
		f.conns[i].asks, f.conns[i].answers = nil, nil
	}
}
