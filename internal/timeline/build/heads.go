package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// requestAt is the head of a request, in less memory than its fact: there is one for each request.
type requestAt struct {
	at                   recording.Time
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
	at                   recording.Time
	Offset, Head, Length int64
	*responseBy
}

// responseBy is what the heads of many responses have in common.
type responseBy struct{ Status, Upgrade int64 }

// heads are what heads have in common, each once.
type heads struct {
	asks    lists.Interned[requestBy]
	answers lists.Interned[responseBy]
	by      timeline.RequestBy // of the request at hand
}

func (h *heads) request(at recording.Time, x *recording.HTTPRequest) requestAt {
	return requestAt{at, x.Offset, x.Head, x.Length, h.asks.Of(requestBy{x.Method, x.Route, x.Host, x.Operation, x.Upgrade})}
}

func (h *heads) response(at recording.Time, x *recording.HTTPResponse) responseAt {
	return responseAt{at, x.Offset, x.Head, x.Length, h.answers.Of(responseBy{x.Status, x.Upgrade})}
}

// dropHeads lets go of the heads of messages, of which requests and calls have been made.
func (f *facts) dropHeads() {
	f.heads = heads{}
	for i := range f.conns {
		f.conns[i].asks, f.conns[i].answers = nil, nil
	}
}
