//go:build linux && (amd64 || arm64)

package capture

import "github.com/getdwell/dwell/recording"

const (
	maxGoroutines = 1 << 16 // goroutines that are remembered as declared
	maxEarly      = 1 << 10 // calls whose connection is not known yet
)

// goDecoder is what the decoder remembers about Go programs.
type goDecoder struct {
	seen  map[goroutineKey]struct{}
	conns map[probesAddress]*conn // outbound connections, by the addresses of both ends
	early map[probesAddress]recording.GoCall
	parks parkDecoder
}

type goroutineKey struct {
	process   recording.ProcessID
	goroutine uint64
}

// goroutine declares a goroutine whose parent is known when the goroutine is first seen.
func (d *decoder) goroutine(tgid uint32, id, parent uint64) {
	if id == 0 || parent == 0 || id == parent {
		return
	}
	k := goroutineKey{d.processOf(tgid).fact.ID, id}
	if _, ok := d.golang.seen[k]; ok {
		return
	}
	if d.golang.seen == nil || len(d.golang.seen) >= maxGoroutines {
		d.golang.seen = map[goroutineKey]struct{}{} // a second declaration says the same
	}
	d.golang.seen[k] = struct{}{}
	d.emit(d.at, &recording.Goroutine{Process: k.process, ID: recording.GoroutineID(id), Parent: recording.GoroutineID(parent)})
}

// addOutbound makes an outbound connection findable by its addresses. A connection that was open before the
// recording becomes known only when the request that was handed to it is written.
func (d *decoder) addOutbound(c *conn) {
	if c.fact.Side != recording.Outbound || c.unix {
		return
	}
	if d.golang.conns == nil {
		d.golang.conns = map[probesAddress]*conn{}
	}
	d.golang.conns[c.address] = c
	if call, ok := d.golang.early[c.address]; ok {
		delete(d.golang.early, c.address)
		call.Conn = c.fact.ID
		d.emit(c.began, &call)
	}
}

// drop forgets a connection, unless another one has its addresses now.
func (g *goDecoder) drop(c *conn) {
	if g.conns[c.address] == c {
		delete(g.conns, c.address)
	}
}

// goEvent decodes an event of the programs for Go.
func (d *decoder) goEvent(h *probesHead, b []byte) {
	switch h.Type {
	case eventGoPark:
		d.park(h, b)
	}
	if d.paused { // what the event would refer to is not seen
		return
	}
	switch h.Type {
	case eventGoCall:
		d.goCall(h, b)
	case eventGoRun, eventGoYield:
		f := &recording.GoRun{Thread: d.actor(h), Goroutine: recording.GoroutineID(view[golangGoRunEvent](b).Goid)}
		if h.Type == eventGoYield {
			f.Yields = 1
		}
		d.emit(d.at, f)
	}
}

// goCall decodes the event that a goroutine handed over a request.
func (d *decoder) goCall(h *probesHead, b []byte) {
	e := view[golangGoCallEvent](b)
	d.goroutine(h.Tgid, e.Goid, e.ParentGoid)
	call := recording.GoCall{Thread: d.actor(h), Goroutine: recording.GoroutineID(e.Goid)}
	address := probesAddress{
		Local: e.Addr.Local, Peer: e.Addr.Peer, LocalPort: e.Addr.LocalPort, PeerPort: e.Addr.PeerPort, Family: e.Addr.Family,
	}
	c := d.golang.conns[address]
	switch {
	case call.Goroutine == recording.NoGoroutine || address.Family == 0 || c == nil && len(d.golang.early) >= maxEarly:
		d.note([]recording.Missing{missingFact(missingGoCalls, "a request was handed to a connection that could not be told")})
	case c == nil:
		if d.golang.early == nil {
			d.golang.early = map[probesAddress]recording.GoCall{}
		}
		d.golang.early[address] = call
	default:
		call.Conn = c.fact.ID
		d.emit(d.at, &call)
	}
}

// The types of golang.bpf.c's events.
const (
	eventGoCall  = uint32(golangGoEventEVENT_GO_CALL)
	eventGoRun   = uint32(golangGoEventEVENT_GO_RUN)
	eventGoYield = uint32(golangGoEventEVENT_GO_YIELD)
)
