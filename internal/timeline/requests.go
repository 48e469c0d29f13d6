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

// more is what of RequestMore a request has, to be changed.
func (r *Request) more() *RequestMore {
	if r.shared {
		r.RequestMore = new(RequestMore)
	}
	return r.RequestMore
}

// Duration of the request.
func (r *Request) Duration() Duration { return r.End.Sub(r.Start) }

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

// served is what a Request was rebuilt from; same index as in Timeline.Requests.
type served struct {
	from    Time // when its strand turned to it: it was read, and its predecessor answered
	read    Time // when its last byte was read; NoTime: it was not seen
	left    Time // when the reader had left it to another strand that answered; NoTime: never
	asked   chunkRun
	replied chunkRun
	conn    int32 // index in facts.conns
	reader  StrandID
	writer  StrandID // that wrote the response, or None
	head    bool     // that of the request was seen
	inexact bool     // when it arrived was not recorded, or merged with others
	open    bool     // it was asked for, since a time that is known, and no answer was seen
}

// buildRequests makes the Requests of all inbound HTTP/1 connections, ordered by start.
func buildRequests(t *Timeline, f *facts) []served {
	n := 0
	for i := range f.conns {
		if c := &f.conns[i]; c.decl.Side == recording.Inbound {
			n += max(len(c.asks), len(c.answers))
		}
	}
	all, made := make([]Request, 0, n), make([]served, 0, n)
	var said shared[RequestBy]
	none := &RequestMore{shared: true}
	for i := range f.conns {
		c := &f.conns[i]
		if c.decl.Side != recording.Inbound || len(c.asks)+len(c.answers) == 0 {
			continue
		}
		free := recording.NoTime // when the response before was complete
		for _, x := range httpExchanges(c, recording.Read) {
			r, s, ok := newRequest(t, f, i, x)
			if !ok {
				continue
			}
			r.RequestBy, r.RequestMore = said.of(f.heads.by), none
			s.from = max(r.FirstRead, min(free, r.End))
			free = r.End
			t.Conns[i].Exchanges++
			all, made = append(all, r), append(made, s)
		}
	}
	countUnanswered(t, all, made)
	order := timeOrder(len(all), func(i int) Time { return all[i].Start })
	arrange(made, slices.Clone(order))
	arrange(all, order)
	t.Requests = all
	for i := range t.Requests {
		t.Requests[i].ID = RequestID(i)
	}
	return made
}

// countUnanswered lets requests count that were unanswered at the end of the recording, for
// longer than all of their endpoint that were answered: they took at least until then, and
// left out, those that never end would make a server look fast. Where none was answered they
// may be what waits for something to happen, as a long poll.
func countUnanswered(t *Timeline, all []Request, made []served) {
	longest := map[string]Duration{}
	for i := range all {
		if r := &all[i]; r.Measured() {
			longest[r.Endpoint] = max(longest[r.Endpoint], r.Duration())
		}
	}
	for i := range all {
		r := &all[i]
		usual, answered := longest[r.Endpoint]
		if answered && r.Cut && r.Excluded == "" && made[i].open && r.Duration() >= max(queuedLong, usual) && !t.lost(r.Start, r.End) {
			r.Cut, r.Unanswered = false, true
		}
	}
}

// lost reports that facts were lost in a span: what is missing in it may have been there.
func (t *Timeline) lost(from, to Time) bool {
	return slices.ContainsFunc(t.Losses, func(l Loss) bool { return l.From <= to && l.To >= from })
}

// queuedLong is from how long a wait on, since before the recording, a request counts as one
// that took from then on: left out, it would make a server look fast that reads what comes
// only seconds later.
const queuedLong Duration = 1_000_000_000

// newRequest makes a Request of one exchange on the i-th connection; not ok if too
// little of it was seen to place it in time.
func newRequest(t *Timeline, f *facts, i int, x exchange) (Request, served, bool) {
	c := &f.conns[i]
	f.heads.by = RequestBy{Peer: c.decl.Peer}
	r := Request{RequestBy: &f.heads.by, Process: c.decl.Process, Strand: None, Conn: c.decl.ID, Ordinal: int32(x.ordinal)}
	s := served{conn: int32(i), read: x.asked.end, asked: x.asked.chunkRun, replied: x.replied.chunkRun, head: x.ask != nil, reader: None, writer: None}
	reads, writes := c.chunks[recording.Read], c.chunks[recording.Write]
	if x.ask != nil && x.asked.none() || x.ask == nil && x.replied.none() {
		return r, s, false
	}
	if x.ask == nil {
		begin := f.window(c.at).From
		r.Start, r.FirstRead, r.Cut = begin, begin, true
		s.reader = f.strand(writes[x.replied.first].Thread)
	} else {
		r.Endpoint = f.endpoint(x.ask.Method, x.ask.Route)
		r.FirstRead = x.asked.begin
		r.Start = max(f.start, min(x.asked.arrived, r.FirstRead))
		s.inexact = x.asked.merged
		s.open = x.answer == nil && x.asked.arrived != recording.NoTime && x.ask.Method != "CONNECT"
		if x.asked.arrived == recording.NoTime {
			r.Start, s.inexact = r.FirstRead, true
			// What was already queued when recording began waited for an unknown time.
			r.Cut = c.decl.Existing == 1 && x.ordinal == 0
			begin := f.window(c.at).From
			if c.decl.Thread == recording.NoThread {
				begin = c.at // what came then made the connection known
			}
			if r.Cut && t.Recorded(recording.HookArrivals) && r.FirstRead.Sub(begin) >= queuedLong && !t.lost(begin, r.FirstRead) {
				r.Start, r.Cut, r.Queued = begin, false, true
			}
		}
		s.reader = f.strand(reads[x.asked.first].Thread)
	}
	if r.Strand = s.reader; r.Strand != None {
		r.Process = t.Strands[r.Strand].Process // who listened may be another, that is gone
	}
	finishRequest(&r, &s, f, &x)
	return r, s, true
}

// finishRequest finds the end of a request: its last byte written, or what cut it.
func finishRequest(r *Request, s *served, f *facts, x *exchange) {
	c := &f.conns[s.conn]
	if x.answer != nil {
		r.Status = x.answer.Status
	}
	if x.answer != nil && !x.replied.none() {
		r.FirstWrite, r.End = x.replied.begin, x.replied.end
		s.writer = f.strand(c.chunks[recording.Write][x.replied.first].Thread)
	}
	switch {
	case x.answer != nil && x.replied.complete && !x.replied.none():
	case x.unpaired && x.over != recording.NoTime:
		r.End, r.Excluded = x.over, unpaired
	case c.closed != nil:
		r.End = c.closedAt
		r.Excluded = "aborted"
	default:
		r.End, r.Cut = f.window(c.at).To, true
	}
	switch {
	case x.answer != nil && x.answer.Upgrade == 1 && x.answer.Status != 101:
		r.Excluded = "stream"
	case x.answer != nil && x.answer.Status == 101, x.answer == nil && x.ask != nil && x.ask.Upgrade == 1:
		r.Excluded = "upgrade"
	}
	r.End = max(r.End, r.FirstRead)
	if r.FirstWrite != recording.NoTime {
		r.FirstWrite = min(max(r.FirstWrite, r.FirstRead), r.End)
	}
}
