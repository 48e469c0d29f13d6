package recording

// thinConns holds the connections of a recording that is thinned.
type thinConns struct {
	each    func(Event)
	all     map[ConnID]*thinConn // those that are open
	inbound connSet
	named   []bool // by Kind: its facts name a connection
	last    ConnID // the last id that was assigned
	windows []Span
	window  int // number of windows that have ended: the index of the window that is open or comes next
	losses  int
}

// thinConn is a connection that is open.
type thinConn struct {
	decl     *Conn
	id       ConnID // under which it was last passed on; NoConn: it was not
	window   int    // window in which it was last passed on
	protocol *ConnProtocol
	tunnel   *Tunnel
	sni      *TLS

	owed   int // answers due to requests from before the window
	asked  int // requests in the window without an answer
	losses int // value of thinConns.losses when these were counted
}

func newThinConns(windows []Span, o *outline, each func(Event)) *thinConns {
	c := &thinConns{windows: windows, each: each, all: map[ConnID]*thinConn{}, inbound: o.inbound, last: o.conn}
	for _, k := range Kinds() {
		for len(c.named) <= int(k.Kind) {
			c.named = append(c.named, false)
		}
		for _, col := range shapeOf(k.Name, k.New()).columns {
			c.named[k.Kind] = c.named[k.Kind] || col.name == "conn" || k.Kind == KindConn
		}
	}
	return c
}

// connField finds, or replaces, the id of the connection that a fact is about.
type connField struct{ found, put ConnID }

// Int implements Visitor.
func (f *connField) Int(name string, v *int64) {
	if name != "conn" {
		return
	}
	f.found = ConnID(*v)
	if f.put != NoConn {
		*v = int64(f.put)
	}
}

// Enum implements Visitor.
func (*connField) Enum(string, []string, *int64) {}

// Str implements Visitor.
func (*connField) Str(string, *string) {}

// of returns the connection that a fact is about, or NoConn.
func (c *thinConns) of(f Fact) ConnID {
	if kind := f.Kind(); kind <= KindNone || int(kind) >= len(c.named) || !c.named[kind] {
		return NoConn
	}
	if x, ok := f.(*Conn); ok {
		return x.ID
	}
	var field connField
	f.Visit(&field)
	return field.found
}

// lost is called when facts were lost: an answer may be among them.
func (c *thinConns) lost() { c.losses++ }

// leave is called when a window ends.
func (c *thinConns) leave() { c.window++ }

// take takes a fact about a connection, inside a window or in a gap (then w has no end). It reports whether it passed
// it on.
func (c *thinConns) take(e Event, id ConnID, w Span) bool {
	open := w.To != NoTime
	x := c.all[id]
	if decl, ok := e.Fact.(*Conn); ok {
		x = c.opened(decl)
		if open {
			x.id, x.window = id, c.window
			c.each(e)
		}
		return open
	}
	if x == nil || c.late(x, e.Fact) {
		return false // it was never declared
	}
	if !open {
		c.note(x, e.Fact, false)
		return false
	}
	told := x.window == c.window
	if !clip(e.Fact, w.From) || c.note(x, e.Fact, true) {
		return false
	}
	if !told {
		if e.Fact.Kind() == KindClosed {
			return false
		}
		c.declare(x, e.Time)
	}
	if x.id != id {
		e.Fact.Visit(&connField{put: x.id})
	}
	c.each(e)
	return true
}

// late passes on a Late fact about an answer in a window that is over: it is known only when the peer next sends
// something.
func (c *thinConns) late(x *thinConn, f Fact) bool {
	l, ok := f.(*Late)
	if !ok || x.window < 0 || x.window == c.window {
		return false
	}
	if w := c.windows[x.window]; w.From <= l.Left && l.Left < w.To {
		l.Conn = x.id
		c.each(Event{w.To, l})
		return true
	}
	return false
}

// opened takes note of a declared connection. If it continued while the recorder paused, the new entry keeps what was
// known.
func (c *thinConns) opened(decl *Conn) *thinConn {
	x := &thinConn{decl: decl, window: -1, losses: c.losses}
	if old := c.all[decl.Before]; old != nil {
		delete(c.all, decl.Before)
		decl.Before, x.id, x.sni = old.id, old.id, old.sni
	}
	c.all[decl.ID] = x
	return x
}

// declare declares a connection again in a window after the one in which it was opened: with another id, and as
// existing.
func (c *thinConns) declare(x *thinConn, at Time) {
	c.last++
	d := x.decl
	c.each(Event{at, &Conn{ID: c.last, Side: d.Side, Process: d.Process, Local: d.Local, Peer: d.Peer, Existing: 1, Before: x.id, RoundTrip: d.RoundTrip}})
	x.id, x.window = c.last, c.window
	if x.tunnel != nil {
		f := *x.tunnel
		f.Conn = x.id
		c.each(Event{at, &f})
	}
	if x.sni != nil { // not a record of a handshake: it only holds the name
		c.each(Event{at, &TLS{Conn: x.id, Dir: x.sni.Dir, Offset: x.sni.Offset, SNI: x.sni.SNI}})
	}
	if x.protocol != nil {
		f := *x.protocol
		f.Conn = x.id
		c.each(Event{at, &f})
	}
}

// note keeps what a fact contributes to later windows. It reports whether the fact has to be left out: an answer to a
// request from before the window would be matched with a request in the window.
func (c *thinConns) note(x *thinConn, f Fact, open bool) (out bool) {
	if x.window != c.window && x.asked > 0 {
		x.owed, x.asked = x.owed+x.asked, 0
	}
	if x.losses != c.losses {
		x.owed, x.asked, x.losses = 0, 0, c.losses
	}
	switch f := f.(type) {
	case *Closed:
		delete(c.all, f.Conn)
	case *ConnProtocol:
		own := *f
		x.protocol = &own
	case *Tunnel:
		own := *f
		x.tunnel, x.protocol = &own, nil
	case *TLS:
		if f.SNI != "" {
			own := *f
			x.sni = &own
		}
	case *HTTPRequest, *Command:
		if open {
			x.asked++
		} else {
			x.owed++
		}
	case *HTTPResponse:
		if f.Status < 100 || f.Status >= 200 || f.Status == 101 {
			return x.answered(1)
		}
	case *Reply:
		return x.answered(1 + int(min(max(f.Skipped, 0), 1<<20)))
	}
	return false
}

// answered counts n answers. It reports whether the last of them belongs to a request from before the window although
// the window has a request of its own.
func (x *thinConn) answered(n int) bool {
	old := min(n, x.owed)
	x.owed -= old
	if old == n {
		return x.asked > 0
	}
	x.asked = max(0, x.asked-(n-old))
	return false
}
