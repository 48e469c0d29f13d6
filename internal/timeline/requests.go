package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Request is one unit of inbound work. There may be millions: what is the same for many, and what
// few have, is kept beside them.
type Request struct {
	*RequestBy
	*RequestMore
	segments   string // packed: see Segments
	ID         RequestID
	Strand     StrandID // that read it, or None
	Ordinal    int32    // of this request on its connection, from 0 since it was recorded
	Cut        bool     // an end of the recording cut it
	Queued     bool     // its first byte was ready before recording began, and waited long: Start is when that began
	Unanswered bool     // it was open for long at the end of the recording: End is that
	Lossy      bool     // facts were lost while it ran
	Process    recording.ProcessID
	Conn       recording.ConnID
	Start      Time // its first byte was ready in the socket
	FirstRead  Time
	FirstWrite Time // of the response
	End        Time // its last byte was written, or had left the socket where that is later
}

// RequestBy is what many requests have in common. It is never changed.
type RequestBy struct {
	Endpoint string // "GET /prices/{}"
	Peer     string
	Status   int64
	Excluded string // as in Call
}

// RequestMore is what few requests have; those that have none of it share one.
type RequestMore struct {
	Calls []CallID
	Parts []Part // work for it on other strands, in order of start
	Held  Time   // since when the socket kept the end of the response back, until End; NoTime: it did not
	Kept  Kept   // since Held: why

	shared bool // by requests that have none of it
}

// NoMore is what requests share that have none of it.
func NoMore() *RequestMore { return &RequestMore{shared: true} }

// More is what of RequestMore a request has, to be changed.
func (r *Request) More() *RequestMore {
	if r.shared {
		r.RequestMore = new(RequestMore)
	}
	return r.RequestMore
}

// Duration of the request.
func (r *Request) Duration() Duration { return r.End.Sub(r.Start) }

// Served is when who served it was done with it: the end of its response had been written, also if the
// socket kept that back.
func (r *Request) Served() Time {
	if r.Held != recording.NoTime {
		return r.Held
	}
	return r.End
}

// OpenAt reports that it was under way at a time: somebody had read it, and it was not over.
func (r *Request) OpenAt(at Time) bool { return r.FirstRead <= at && at < r.End }

// Unaccounted is how much of it no Segment accounts for.
func (r *Request) Unaccounted() Duration {
	rest := r.Duration()
	for s := r.Segments(); s.Next(); {
		rest -= s.To.Sub(s.From)
	}
	return rest
}

// Measured reports whether the request belongs in latency quantiles.
func (r *Request) Measured() bool { return !r.Cut && r.Excluded == "" }

// Lost reports that facts were lost in a span: what is missing in it may have been there.
func (t *Timeline) Lost(from, to Time) bool {
	return slices.ContainsFunc(t.Losses, func(l Loss) bool { return l.From <= to && l.To >= from })
}

// Kept is what kept the end of a message in our socket after it had been written.
type Kept int64

// What may have, by the numbers of recording.Late.
const (
	KeptNagle   Kept = iota // until the other end had acknowledged what was sent before
	KeptNoRoom              // there was no room for it at the other end, or under way
	KeptRefused             // this host dropped it on its way out
)
