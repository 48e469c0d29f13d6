//go:build linux && (amd64 || arm64)

package capture

import (
	"math"
	"slices"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// keepEnded is how long, in ns, ended things are remembered: data that arrived on a closed connection can still be
// read.
const keepEnded = 5_000_000_000

// conn is one connection. An outbound one is declared when its local port is known, an inbound one when a process has
// used it.
type conn struct {
	fact     recording.Conn
	began    recording.Time
	declared bool
	ended    recording.Time
	owner    uint32 // the process that listens
	address  probesAddress
	parser   *protocol.Conn
	recent   [2]recentChunks
	next     [2]int64 // offset of the next byte in each direction
	inFlight
	plain  *plainConn     // the plain text of what is encrypted on it, if known
	secure bool           // it speaks TLS, and the session knows that
	unix   bool           // it uses a Unix socket
	used   recording.Time // when it was last read or written
	eof    bool           // the peer sends no more
	udp    bool           // the exchange of a UDP socket with one peer
}

// chunkTimes are the times of one read or write.
type chunkTimes struct {
	from          int64
	time, arrived recording.Time
}

// recentChunks finds the read or write that contained a byte: a head may be recognised only when later bytes complete
// it.
type recentChunks struct {
	ring [8]chunkTimes
	next int
}

func (r *recentChunks) add(f *recording.Chunk) {
	r.ring[r.next%len(r.ring)] = chunkTimes{f.Offset, f.First, f.Arrived}
	r.next++
}

// at returns the read or write that contained the byte at offset, or nil if it is no longer known.
func (r *recentChunks) at(offset int64) *chunkTimes {
	var best *chunkTimes
	for i := range min(r.next, len(r.ring)) {
		if c := &r.ring[i]; c.from <= offset && (best == nil || c.from >= best.from) {
			best = c
		}
	}
	return best
}

func asyncID(bits uint64) int64 {
	v := math.Float64frombits(bits)
	if !(v > 0 && v < 1<<53) {
		return 0
	}
	return int64(v)
}

// connEvent decodes an event of a connection's life.
func (d *decoder) connEvent(h *probesHead, b []byte) {
	switch probesEventType(h.Type) {
	case probesEventTypeEVENT_PATH:
		d.path(view[probesPathEvent](b))
	case probesEventTypeEVENT_CONN:
		d.connection(view[probesConnEvent](b))
	case probesEventTypeEVENT_ESTABLISHED:
		d.established(view[probesConnEvent](b))
	case probesEventTypeEVENT_CLOSED:
		d.closedConn(view[probesConnEvent](b))
	}
}

func (d *decoder) connection(e *probesConnEvent) {
	d.last.conn++
	c := &conn{began: recording.Time(e.H.Ts), owner: e.Owner, fact: recording.Conn{
		ID: d.last.conn, Side: recording.Side(e.Side), Existing: int64(e.Existing),
		Goroutine: recording.GoroutineID(e.Ids.Goid), Parent: recording.GoroutineID(e.Ids.ParentGoid),
		Exec: asyncID(e.Ids.Exec), Trigger: asyncID(e.Ids.Trigger), Counter: asyncID(e.Ids.Counter),
	}}
	c.parser = protocol.NewConn(c.fact.ID, c.fact.Side)
	if c.fact.Existing == 1 {
		c.parser.Joined()
		c.fact.RoundTrip = 1000 * int64(e.Rtt)
	}
	if old := d.left[e.Before]; old != nil && e.Before != 0 {
		delete(d.left, e.Before)
		c.fact.Process, c.owner = old.fact.Process, old.owner
		if old.declared {
			c.fact.Before = old.fact.ID
		}
	}
	c.setAddress(&e.Addr)
	d.notTCP = d.notTCP || e.Udp == 1 || e.Addr.Family == familyUnix
	if e.Addr.Family == familyUnix {
		d.nameUnix(c, e.Id)
	}
	d.conns[e.Id] = c
	if e.H.Tid == 0 {
		return
	}
	c.fact.Process = d.processOf(e.H.Tgid).fact.ID
	c.fact.Context = d.context(e.H.Tgid, &e.Ids)
	switch {
	case e.Udp == 1:
		d.exchanges(c, e)
	case c.fact.Existing == 1:
		if c.fact.Side == recording.Inbound {
			c.fact.Thread = d.actor(&e.H)
		}
		d.declare(c)
	default:
		c.fact.Thread = d.actor(&e.H)
	}
}

func (c *conn) setAddress(a *probesAddress) {
	if c.address = *a; a.Family == familyUnix {
		return // it has no address
	}
	c.fact.Local = endpoint(a.Family, a.Local, a.LocalPort)
	c.fact.Peer = endpoint(a.Family, a.Peer, a.PeerPort)
}

// declare writes the Conn fact once.
func (d *decoder) declare(c *conn) {
	if c.declared {
		return
	}
	c.declared = true
	if c.fact.Process == recording.NoProcess {
		c.fact.Process = d.processOf(c.owner).fact.ID
	}
	f := c.fact
	d.emit(c.began, &f)
	d.addOutbound(c)
}

// connOf finds a connection, or returns nil if its beginning was lost.
func (d *decoder) connOf(id uint64) *conn {
	c := d.conns[id]
	if c == nil {
		d.note([]recording.Missing{missingFact("connection", "the beginning of a connection was lost")})
	}
	return c
}

func (d *decoder) established(e *probesConnEvent) {
	c := d.connOf(e.Id)
	if c == nil {
		return
	}
	c.setAddress(&e.Addr)
	d.declare(c)
	d.emit(recording.Time(e.H.Ts), &recording.Established{Conn: c.fact.ID})
}

func (d *decoder) closedConn(e *probesConnEvent) {
	c := d.connOf(e.Id)
	if c == nil {
		return
	}
	c.ended = recording.Time(e.H.Ts)
	d.closed = append(d.closed, c)
	if !c.declared && c.fact.Process == recording.NoProcess && d.processes[c.owner] == nil {
		return
	}
	if !c.declared && c.fact.Side == recording.Outbound {
		c.setAddress(&e.Addr)
	}
	d.declare(c)
	d.found(c, c.parser.Close())
	d.closePlain(c)
	if c.plain != nil {
		d.plain.unsent(c.plain.key)
	}
	d.emit(c.ended, &recording.Closed{Conn: c.fact.ID, By: recording.Closer(e.Closer), Thread: d.actor(&e.H)})
}

// setUser assigns an inbound connection to the process that uses it. If that process started after the connection was
// established, the connection stays with the process that listens.
func (d *decoder) setUser(c *conn, tgid uint32) {
	if p := d.processOf(tgid); c.fact.Process == recording.NoProcess && p.began <= c.began {
		c.fact.Process = p.fact.ID
	}
}

func (d *decoder) chunk(e *probesChunkEvent, data []byte) {
	c := d.connOf(e.Id)
	if c == nil {
		return
	}
	d.setUser(c, e.H.Tgid)
	d.declare(c)
	d.goroutine(e.H.Tgid, e.Ids.Goid, e.Ids.ParentGoid)
	t := recording.Time(e.H.Ts)
	f := &recording.Chunk{
		Conn: c.fact.ID, Thread: d.actor(&e.H), Dir: recording.Direction(e.Dir),
		Offset: int64(e.Offset), Bytes: int64(e.Bytes),
		Arrived: recording.Time(e.Arrived), Last: recording.Time(e.Last),
		Merged: int64(e.Merged), First: recording.Time(e.First),
		Goroutine: recording.GoroutineID(e.Ids.Goid), Exec: asyncID(e.Ids.Exec),
		Trigger: asyncID(e.Ids.Trigger), Counter: asyncID(e.Ids.Counter),
		Context: d.context(e.H.Tgid, &e.Ids), Contexts: int64(e.Ids.Contexts),
	}
	d.emit(t, f)
	c.used, c.eof = t, c.eof || e.Eof == 1
	if f.Offset > c.next[f.Dir&1] {
		d.note([]recording.Missing{missingFact("unseen-bytes", "bytes were read by calls that are not followed, as splice, or whose facts were lost")})
	}
	c.next[f.Dir&1] = f.Offset + f.Bytes
	if f.Bytes > 0 && !c.udp {
		facts := d.parse(c, f, data)
		if c.parser.Protocol() == recording.ProtocolTLS {
			d.overTLS(c, &e.H, f, facts)
		}
		if f.Dir == recording.Write {
			d.live.goesOn(&c.answer, f.Offset, t)
		}
	}
}

// parse passes the captured bytes to the protocol parsers. The bytes end here; only facts are passed on.
func (d *decoder) parse(c *conn, f *recording.Chunk, data []byte) []recording.Fact {
	c.recent[f.Dir&1].add(f)
	facts := c.parser.Chunk(f.Dir, f.Offset, f.Bytes, data)
	d.found(c, facts)
	return facts
}

// found writes the facts of a parser, at the time of the bytes from which they were made: a parser may recognise
// something only later.
func (d *decoder) found(c *conn, facts []recording.Fact) {
	asks := recording.Read // the direction of requests
	if c.fact.Side == recording.Outbound {
		asks = recording.Write
	}
	for _, fact := range facts {
		at := d.at
		switch f := fact.(type) {
		case *recording.HTTPRequest:
			f.Route = d.routes.Of(f.Route) // without words that turned out to be identifiers
			at = d.requestBegins(c, c.recent[asks].at(f.Offset))
		case *recording.HTTPResponse:
			at = d.responseBegins(c, f, c.recent[1-asks].at(f.Offset))
		case *recording.Command:
			if seen := c.recent[asks].at(f.Offset); seen != nil {
				at = seen.time
			}
		case *recording.Reply:
			if seen := c.recent[1-asks].at(f.Offset); seen != nil {
				at = seen.time
			}
		case *recording.TLS:
			if seen := c.recent[f.Dir&1].at(f.Offset); seen != nil {
				at = seen.time
			}
		}
		d.emit(at, fact)
	}
}

// requestBegins counts a request whose first byte was in seen, and returns its time.
func (d *decoder) requestBegins(c *conn, seen *chunkTimes) recording.Time {
	at, arrived := d.at, d.at
	if seen != nil {
		at, arrived = seen.time, seen.time
		if seen.arrived != recording.NoTime {
			arrived = seen.arrived
		}
	}
	if c.fact.Side == recording.Inbound {
		c.answer = answer{}
		d.live.requests++
		if len(c.pending) < 64 {
			c.pending = append(c.pending, arrived)
		}
	}
	return at
}

func (d *decoder) responseBegins(c *conn, f *recording.HTTPResponse, seen *chunkTimes) recording.Time {
	at := d.at
	if seen != nil {
		at = seen.time
	}
	if f.Status >= 200 && len(c.pending) > 0 {
		c.answer = d.live.begins(c.pending[0], at, f, c.plain != nil)
		c.pending = slices.Delete(c.pending, 0, 1)
	}
	return at
}

func (d *decoder) listen(e *probesListenEvent) {
	d.emit(recording.Time(e.H.Ts), &recording.Listen{
		Process: d.processOf(e.H.Tgid).fact.ID, Port: int64(e.Port), Backlog: int64(e.Limit)})
}

// listens declares a listener that existed before recording.
func (d *decoder) listens(pid int, port, limit int64) {
	d.emit(d.at, &recording.Listen{Process: d.processID(uint32(pid)), Port: port, Backlog: limit})
}

func (d *decoder) backlog(e *probesListenEvent) {
	d.emit(recording.Time(e.H.Ts), &recording.Backlog{
		Port: int64(e.Port), Depth: int64(e.Depth), Limit: int64(e.Limit)})
}

// forget drops what ended long ago, so that memory stays bounded.
func (d *decoder) forget() {
	d.forgetTasks()
	d.plain.forget(d.threads)
	d.forgetExchanges()
	n := 0
	for n < len(d.closed) && d.now.Sub(d.closed[n].ended) > keepEnded {
		n++
	}
	if n == 0 {
		return
	}
	old := map[*conn]bool{}
	for _, c := range d.closed[:n] {
		old[c] = true
	}
	for id, c := range d.conns {
		if old[c] {
			delete(d.conns, id)
			d.golang.drop(c)
		}
	}
	d.closed = append([]*conn(nil), d.closed[n:]...)
	d.lookups.forget(d.now)
}

// leaveConns completes the parsing of all open connections: recording pauses, or is over.
func (d *decoder) leaveConns() {
	for _, c := range d.conns {
		if c.ended != recording.NoTime {
			continue
		}
		if d.processes[c.owner] != nil {
			d.declare(c)
		}
		if c.declared {
			d.found(c, c.parser.Close())
			d.closePlain(c)
		}
	}
}

// pause drops the state that cannot be continued after a pause. Connections that are still used get new ids.
func (d *decoder) pause() {
	d.leaveConns()
	d.paused = true
	d.left = d.conns
	for id, c := range d.left {
		d.golang.drop(c)
		if c.ended != recording.NoTime {
			delete(d.left, id)
		}
	}
	d.conns, d.closed = map[uint64]*conn{}, nil
	clear(d.golang.early)
	clear(d.plain.waiting)
}

// finish declares everything that no fact has named yet.
func (d *decoder) finish() {
	if !d.paused {
		d.leaveConns()
	}
	for _, t := range d.threads {
		d.use(t)
	}
	for _, m := range d.noted {
		d.emit(d.now, m)
	}
}
