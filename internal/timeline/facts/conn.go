package facts

import "github.com/getdwell/dwell/recording"

// commandFact takes facts about protocols other than HTTP.
func (f *Facts) commandFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Command:
		c := f.conn(x.Conn)
		c.Commands = append(c.Commands, x)
	case *recording.Reply:
		c := f.conn(x.Conn)
		c.Replies = append(c.Replies, x)
	case *recording.Datagram:
		f.see(x.Thread, at)
		f.Datagrams = append(f.Datagrams, datagramAt{at, x})
	default:
		return false
	}
	return true
}

type datagramAt struct {
	At recording.Time
	*recording.Datagram
}

// Conn holds the facts about one connection, in order of time.
type Conn struct {
	At          recording.Time
	Decl        *recording.Conn
	Established recording.Time
	Reached     recording.Time // through a proxy: when the connection to the proxy was established
	Closed      *recording.Closed
	ClosedAt    recording.Time
	Protocol    recording.Protocol
	Chunks      [2][]Chunk // by Direction
	Asks        []Request
	Answers     []Response
	Commands    []*recording.Command
	Replies     []*recording.Reply
	TLS         []TLS
	GoCalls     []GoCallAt // outbound: the goroutines that handed requests to it
	Late        []*recording.Late
	Again       []recording.Time // when a segment was retransmitted
	Tunnel      *recording.Tunnel
}

// through notes that a proxy answered: until then the connection was being set up. If the proxy refused, the connection
// counts as one that failed.
func (c *Conn) through(at recording.Time, x *recording.Tunnel) {
	c.Tunnel, c.Protocol, c.Reached, c.Established = x, recording.ProtocolUnknown, c.Established, at
	if x.Refused == 1 {
		c.Established = recording.NoTime
	}
}

// Behind returns where, in each direction, the bytes begin that do not belong to a proxy.
func (c *Conn) Behind() (from [2]int64) {
	if c.Tunnel != nil {
		from[recording.Write], from[recording.Read] = c.Tunnel.Written, c.Tunnel.Read
	}
	return from
}

// Refused reports whether a proxy refused the connection.
func (c *Conn) Refused() bool { return c.Tunnel != nil && c.Tunnel.Refused == 1 }
