package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Filter selects requests to show.
type Filter struct {
	Endpoint string                    // only this endpoint; "": all
	Slowest  int                       // only this many, the slowest first; 0: all, in order of start
	Where    *Where                    // only those it selects; nil: all
	During   *[2]timeline.Time         // only those in flight between these times; nil: all
	Wall     func(timeline.Time) int64 // wall time since the Unix epoch, 0 not known; nil: no time is known
}

// wall returns the wall time of a time; 0 if it is not known.
func (f Filter) wall(t timeline.Time) int64 {
	if f.Wall == nil {
		return 0
	}
	return f.Wall(t)
}

func (f Filter) choose(tl *timeline.Timeline) []timeline.RequestID {
	var ids []timeline.RequestID
	for i := range tl.Requests {
		r := &tl.Requests[i]
		if f.Endpoint != "" && r.Endpoint != f.Endpoint || f.Slowest > 0 && !r.Measured() || !f.Where.Match(tl, r) {
			continue
		}
		if f.During != nil && (r.Start >= f.During[1] || r.End <= f.During[0]) {
			continue
		}
		ids = append(ids, timeline.RequestID(i))
	}
	if f.Slowest > 0 {
		slices.SortStableFunc(ids, func(a, b timeline.RequestID) int {
			return cmp.Compare(tl.Requests[b].Duration(), tl.Requests[a].Duration())
		})
		ids = ids[:min(len(ids), f.Slowest)]
	}
	return ids
}

type shownRequest struct {
	ID         timeline.RequestID `json:"id"`
	Endpoint   string             `json:"endpoint"`
	Connection shownConnection    `json:"connection"`
	Status     int64              `json:"status"`
	Start      timeline.Time      `json:"start_ns"`
	Wall       int64              `json:"start_wall_ns,omitempty"` // since the Unix epoch; 0 not known
	Duration   Duration           `json:"duration_ns"`
	Segments   []shownSegment     `json:"segments"`
	Unaccount  Duration           `json:"unaccounted_ns"`
	Calls      []shownCall        `json:"calls"`
	Parts      []shownPart        `json:"parts,omitempty"` // work on other strands
	Cut        bool               `json:"cut,omitempty"`
	Lossy      bool               `json:"lossy,omitempty"`
	Excluded   string             `json:"excluded,omitempty"`
}

type shownConnection struct {
	Peer    string `json:"peer"` // address and port
	Ordinal int    `json:"ordinal"`
}

type shownSegment struct {
	From     Duration            `json:"from_ns"` // since the request's start
	To       Duration            `json:"to_ns"`
	Phase    string              `json:"phase"`
	Cause    string              `json:"cause"`
	Quality  string              `json:"quality"`
	Call     *timeline.CallID    `json:"call,omitempty"`
	Strand   string              `json:"strand,omitempty"`
	BehindOf *timeline.RequestID `json:"blocker,omitempty"`
	Wait     *shownWait          `json:"wait,omitempty"` // the wait that it is, or is part of
}

type shownPart struct {
	Strand string   `json:"strand"`
	From   Duration `json:"from_ns"` // since the request's start
	To     Duration `json:"to_ns"`
}

type shownCall struct {
	ID         timeline.CallID `json:"id"`
	Peer       string          `json:"peer"`
	Address    string          `json:"address"`
	Local      string          `json:"local,omitempty"`     // our address and port
	Proxy      string          `json:"proxy,omitempty"`     // address and port
	Tunnel     Duration        `json:"tunnel_ns,omitempty"` // part of connect: from reaching the proxy until it relayed bytes
	Ordinal    int             `json:"ordinal"`
	Operation  string          `json:"operation"`
	Status     int64           `json:"status"`
	New        bool            `json:"new_connection"`
	Associated string          `json:"associated"`
	Certainty  string          `json:"certainty"`
	From       Duration        `json:"from_ns"` // since the request's start
	To         Duration        `json:"to_ns"`
	Phases     Phases          `json:"phases"`
	Cut        bool            `json:"cut,omitempty"`
}

// ShowJSON writes one line per request.
func ShowJSON(w io.Writer, tl *timeline.Timeline, f Filter) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	locals := map[int64]string{}
	for i := range tl.Conns {
		locals[int64(tl.Conns[i].ID)] = tl.Conns[i].Local
	}
	for _, id := range f.choose(tl) {
		one := shown(tl, id, locals)
		one.Wall = f.wall(one.Start)
		if err := enc.Encode(one); err != nil {
			return fmt.Errorf("write request %d as JSON: %w", id, err)
		}
	}
	return nil
}

func shown(tl *timeline.Timeline, id timeline.RequestID, locals map[int64]string) shownRequest {
	r := &tl.Requests[id]
	out := shownRequest{
		ID: id, Endpoint: r.Endpoint, Connection: shownConnection{r.Peer, int(r.Ordinal)}, Status: r.Status,
		Start: r.Start, Duration: r.Duration(), Segments: []shownSegment{}, Unaccount: r.Unaccounted(), Calls: []shownCall{},
		Cut: r.Cut, Lossy: r.Lossy, Excluded: r.Excluded,
	}
	for s := r.Segments(); s.Next(); {
		out.Segments = append(out.Segments, segment(tl, r, &s.Segment))
	}
	for _, part := range r.Parts {
		out.Parts = append(out.Parts, shownPart{strandName(tl, part.Strand), part.From.Sub(r.Start), part.To.Sub(r.Start)})
	}
	for _, cid := range r.Calls {
		c := &tl.Calls[cid]
		out.Calls = append(out.Calls, shownCall{
			ID: cid, Peer: c.Peer, Address: c.Address, Local: locals[int64(c.Conn)], Proxy: c.Proxy, Tunnel: tunnelOf(c), Ordinal: c.Ordinal, Operation: c.Operation,
			Status: c.Status, New: c.New, Associated: c.Why, Certainty: c.Certainty().String(), From: c.Start.Sub(r.Start), To: c.End.Sub(r.Start),
			Phases: phasesOf(c), Cut: c.Cut,
		})
	}
	return out
}

// tunnelOf returns how long the agreement with a proxy took for a call's connection.
func tunnelOf(c *timeline.Call) Duration {
	if c.Reached == recording.NoTime || c.Connected <= c.Reached {
		return 0
	}
	return c.Connected.Sub(c.Reached)
}

func segment(tl *timeline.Timeline, r *timeline.Request, s *timeline.Segment) shownSegment {
	out := shownSegment{
		From: s.From.Sub(r.Start), To: s.To.Sub(r.Start),
		Phase: s.Phase.String(), Cause: s.Cause.String(), Quality: s.Quality.String(),
	}
	if s.Call != timeline.None {
		call := s.Call // s is reused by the iterator
		out.Call = &call
	}
	if s.Strand != timeline.None {
		out.Strand = strandName(tl, s.Strand)
	}
	if s.Blocker != timeline.None {
		blocker := s.Blocker
		out.BehindOf = &blocker
	}
	if w := waitOf(tl, s); w != timeline.None {
		out.Wait = waitShown(tl, w, r.Start)
	}
	return out
}

func strandName(tl *timeline.Timeline, id timeline.StrandID) string {
	s := &tl.Strands[id]
	if s.Goroutine != 0 {
		return fmt.Sprintf("goroutine %d", s.Goroutine)
	}
	return fmt.Sprintf("%s #%d", s.Name, s.Thread)
}

func phasesOf(c *timeline.Call) Phases {
	p := c.Phases
	return Phases{
		Queue: p[timeline.PhaseQueue], DNS: p[timeline.PhaseDNS], Connect: p[timeline.PhaseConnect], TLS: p[timeline.PhaseTLS],
		Send: p[timeline.PhaseSend], Remote: p[timeline.PhaseRemote], PickUp: p[timeline.PhasePickUp], Receive: p[timeline.PhaseReceive],
	}
}
