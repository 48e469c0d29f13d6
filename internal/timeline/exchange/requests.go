package exchange

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// cutIdless marks as Cut the requests and calls during which the ids of their process's runtime were not seen: their
// assignment may be unknown or wrong.
func cutIdless(t *timeline.Timeline) {
	for i := range t.Requests {
		r := &t.Requests[i]
		r.Cut = r.Cut || t.Idless(r)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Cut = c.Cut || len(t.UnseenIn(timeline.UnseenIDs, c.Process, c.Start, c.End)) > 0
	}
}

// Request is what a timeline.Request was made from, with the same index as in Timeline.Requests.
type Request struct {
	From    recording.Time // when its strand turned to it: it was read, and the previous request answered
	Read    recording.Time // when its last byte was read; NoTime: not seen
	Left    recording.Time // when the reader had left it to another strand, which answered; NoTime: never
	Asked   Chunks
	Replied Chunks
	Conn    int32 // index in facts.conns
	Reader  timeline.StrandID
	Writer  timeline.StrandID // that wrote the response, or None
	Head    bool              // the head of the request was seen
	Inexact bool              // its arrival was not recorded, or was merged with others
	open    bool              // its arrival is known, and no answer was seen
}

// Inbound makes the connections, look-ups and requests, and returns what the last two were made from.
func Inbound(t *timeline.Timeline, f *facts.Facts) ([]Request, []Resolution) {
	t.Conns = buildConns(f)
	buildHandshakes(t, f)
	resolutions := buildLookups(t, f)
	nameConns(t, f)
	return buildRequests(t, f), resolutions
}

// buildRequests makes the Requests of all inbound HTTP/1 connections, ordered by start.
func buildRequests(t *timeline.Timeline, f *facts.Facts) []Request {
	n := 0
	for i := range f.Conns {
		if c := &f.Conns[i]; c.Decl.Side == recording.Inbound {
			n += max(len(c.Asks), len(c.Answers))
		}
	}
	all, made := make([]timeline.Request, 0, n), make([]Request, 0, n)
	var said lists.Interned[timeline.RequestBy]
	var exchanges []exchange
	none := timeline.NoMore()
	for i := range f.Conns {
		c := &f.Conns[i]
		if c.Decl.Side != recording.Inbound || len(c.Asks)+len(c.Answers) == 0 {
			continue
		}
		free := recording.NoTime // when the previous response was complete
		exchanges = httpExchanges(c, recording.Read, exchanges)
		for k := range exchanges {
			r, s, ok := newRequest(t, f, i, &exchanges[k])
			if !ok {
				continue
			}
			r.RequestBy, r.RequestMore = said.Of(f.Heads.RequestBy), none
			s.From = max(r.FirstRead, min(free, r.End))
			free = r.End
			t.Conns[i].Exchanges++
			all, made = append(all, r), append(made, s)
		}
		c.Asks, c.Answers = nil, nil
	}
	countUnanswered(t, all, made)
	order := lists.Order(len(all), func(i int) recording.Time { return all[i].Start })
	made, t.Requests = lists.InOrder(made, order), lists.InOrder(all, order)
	for i := range t.Requests {
		t.Requests[i].ID = timeline.RequestID(i)
	}
	return made
}

// countUnanswered counts requests that were unanswered at the end of the recording, if they have been open for longer
// than every answered request of their endpoint. They took at least until then, and without them a server that never
// answers would look fast. If no request of an endpoint was answered, its requests are left out: they may wait for
// something to happen, as a long poll does.
func countUnanswered(t *timeline.Timeline, all []timeline.Request, made []Request) {
	longest, of, name := map[string]*recording.Duration{}, (*recording.Duration)(nil), ""
	for i := range all {
		if r := &all[i]; r.Measured() {
			if of == nil || r.Endpoint != name {
				of, name = lists.Entry(longest, r.Endpoint), r.Endpoint
			}
			*of = max(*of, r.Duration())
		}
	}
	for i := range all {
		r := &all[i]
		if !r.Cut || r.Excluded != "" || !made[i].open {
			continue
		}
		if usual := longest[r.Endpoint]; usual != nil && r.Duration() >= max(queuedLong, *usual) && !t.Lost(r.Start, r.End) {
			r.Cut, r.Unanswered = false, true
		}
	}
}

// queuedLong is the shortest wait since before the recording for which a request counts, as one that began with the
// recording. Without such requests a server that reads its input only seconds later would look fast.
const queuedLong recording.Duration = 1_000_000_000

// newRequest makes a Request of one exchange on the i-th connection; not ok if too little of it was seen to place it in
// time.
func newRequest(t *timeline.Timeline, f *facts.Facts, i int, x *exchange) (timeline.Request, Request, bool) {
	c := &f.Conns[i]
	f.Heads.RequestBy = timeline.RequestBy{Peer: c.Decl.Peer}
	r := timeline.Request{RequestBy: &f.Heads.RequestBy, Process: c.Decl.Process, Strand: timeline.None, Conn: c.Decl.ID, Ordinal: int32(x.ordinal)}
	s := Request{Conn: int32(i), Read: x.asked.end, Asked: x.asked.Chunks, Replied: x.replied.Chunks, Head: x.ask != nil, Reader: timeline.None, Writer: timeline.None}
	reads, writes := c.Chunks[recording.Read], c.Chunks[recording.Write]
	if x.ask != nil && x.asked.None() || x.ask == nil && x.replied.None() {
		return r, s, false
	}
	if x.ask == nil {
		begin := f.Window(c.At).From
		r.Start, r.FirstRead, r.Cut = begin, begin, true
		s.Reader = f.Strand(writes[x.replied.First].Thread)
	} else {
		r.Endpoint = f.Endpoint(x.ask.Method, x.ask.Route)
		r.FirstRead = x.asked.Begin
		r.Start = max(f.Start, min(x.asked.arrived, r.FirstRead))
		s.Inexact = x.asked.merged
		s.open = x.answer == nil && x.asked.arrived != recording.NoTime && x.ask.Method != "CONNECT"
		if x.asked.arrived == recording.NoTime {
			r.Start, s.Inexact = r.FirstRead, true
			// What was already queued when recording began waited for an unknown time.
			r.Cut = c.Decl.Existing == 1 && x.ordinal == 0
			begin := f.Window(c.At).From
			if c.Decl.Thread == recording.NoThread {
				begin = c.At // the bytes that arrived then revealed the connection
			}
			if r.Cut && t.Recorded(recording.HookArrivals) && r.FirstRead.Sub(begin) >= queuedLong && !t.Lost(begin, r.FirstRead) {
				r.Start, r.Cut, r.Queued = begin, false, true
			}
		}
		s.Reader = f.Strand(reads[x.asked.First].Thread)
	}
	if r.Strand = s.Reader; r.Strand != timeline.None {
		r.Process = t.Strands[r.Strand].Process // the listening process may be another one, which has ended
	}
	finishRequest(&r, &s, f, x)
	return r, s, true
}

// finishRequest finds the end of a request: its last byte written, or what cut it.
func finishRequest(r *timeline.Request, s *Request, f *facts.Facts, x *exchange) {
	c := &f.Conns[s.Conn]
	if x.answer != nil {
		r.Status = x.answer.Status
	}
	if x.answer != nil && !x.replied.None() {
		r.FirstWrite, r.End = x.replied.Begin, x.replied.end
		s.Writer = f.Strand(c.Chunks[recording.Write][x.replied.First].Thread)
	}
	switch {
	case x.answer != nil && x.replied.complete && !x.replied.None():
	case x.unpaired && x.over != recording.NoTime:
		r.End, r.Excluded = x.over, Unpaired
	case c.Closed != nil:
		r.End = c.ClosedAt
		r.Excluded = "aborted"
	default:
		r.End, r.Cut = f.Window(c.At).To, true
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
