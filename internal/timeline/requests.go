package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Request is one unit of inbound work. A timeline may contain millions, so what is the same for many requests, and what
// few requests have, is stored apart.
type Request struct {
	*RequestBy
	*RequestMore
	segments   string // packed: see Segments
	ID         RequestID
	Strand     StrandID // that read it, or None
	Ordinal    int32    // its position on the connection, from 0 since the connection was recorded
	Cut        bool     // an end of the recording cut it
	Queued     bool     // its first byte was ready before recording began, and it waited long: Start is when recording of its connection began
	Unanswered bool     // it was still open at the end of the recording, which is its End, and had been for long
	Lossy      bool     // facts were lost while it ran
	Process    recording.ProcessID
	Conn       recording.ConnID
	Start      Time // its first byte was ready in the socket
	FirstRead  Time
	FirstWrite Time // of the response
	End        Time // its last byte was written, or had left the socket if that is later
}

// RequestBy is what many requests have in common. It is never changed.
type RequestBy struct {
	Endpoint string // "GET /prices/{}"
	Peer     string
	Status   int64
	Excluded string // as in Call
}

// RequestMore is what few requests have. All requests without any of it share one RequestMore.
type RequestMore struct {
	Calls []CallID
	Parts []Part // work for it on other strands, in order of start
	Held  Time   // since when the socket held back the end of the response, until End; NoTime: it did not
	Kept  Kept   // why, since Held

	shared bool // by requests without any of it
}

// NoMore returns the RequestMore that requests without any of it share.
func NoMore() *RequestMore { return &RequestMore{shared: true} }

// More returns the request's own RequestMore, which may be changed.
func (r *Request) More() *RequestMore {
	if r.shared {
		r.RequestMore = new(RequestMore)
	}
	return r.RequestMore
}

// Duration of the request.
func (r *Request) Duration() Duration { return r.End.Sub(r.Start) }

// Served returns when the server was done with the request: the end of its response had been written, even if the
// socket held it back afterwards.
func (r *Request) Served() Time {
	if r.Held != recording.NoTime {
		return r.Held
	}
	return r.End
}

// OpenAt reports whether the request was under way at a time: it had been read, and had not ended.
func (r *Request) OpenAt(at Time) bool { return r.FirstRead <= at && at < r.End }

// Unaccounted returns how much of the request's duration no Segment accounts for.
func (r *Request) Unaccounted() Duration {
	rest := r.Duration()
	for s := r.Segments(); s.Next(); {
		rest -= s.To.Sub(s.From)
	}
	return rest
}

// Measured reports whether the request counts in latency quantiles.
func (r *Request) Measured() bool { return !r.Cut && r.Excluded == "" }

// Lost reports whether facts were lost in a span: what is missing from it may have happened.
func (t *Timeline) Lost(from, to Time) bool {
	return slices.ContainsFunc(t.Losses, func(l Loss) bool { return l.From <= to && l.To >= from })
}

// Kept is what held back the end of a message in our socket after it had been written.
type Kept int64

// The reasons, by the numbers of recording.Late.
const (
	KeptNagle   Kept = iota // until the other end had acknowledged what was sent before
	KeptNoRoom              // the other end, or the network, had no room for it
	KeptRefused             // this host dropped it on its way out
)
