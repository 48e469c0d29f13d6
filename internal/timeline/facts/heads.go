package facts

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Request is the head of a request, in less memory than its fact: every request has one.
type Request struct {
	At                   recording.Time
	Offset, Head, Length int64
	*requestBy
}

// requestBy is what the heads of many requests have in common.
type requestBy struct {
	Method, Route, Host, Operation string
	Close, Upgrade                 int64
}

// Response is the head of a response, likewise.
type Response struct {
	At                   recording.Time
	Offset, Head, Length int64
	*responseBy
}

// responseBy is what the heads of many responses have in common.
type responseBy struct{ Status, Close, Upgrade int64 }

// heads stores what heads have in common, each value once.
type heads struct {
	asks      lists.Interned[requestBy]
	answers   lists.Interned[responseBy]
	RequestBy timeline.RequestBy // of the current request
}

func (h *heads) request(at recording.Time, x *recording.HTTPRequest) Request {
	return Request{at, x.Offset, x.Head, x.Length, h.asks.Of(requestBy{x.Method, x.Route, x.Host, x.Operation, x.Close, x.Upgrade})}
}

func (h *heads) response(at recording.Time, x *recording.HTTPResponse) Response {
	return Response{at, x.Offset, x.Head, x.Length, h.answers.Of(responseBy{x.Status, x.Close, x.Upgrade})}
}

// DropHeads releases the heads of messages, after requests and calls have been made from them.
func (f *Facts) DropHeads() {
	f.Heads = heads{}
	for i := range f.Conns {
		f.Conns[i].Asks, f.Conns[i].Answers = nil, nil
	}
}
