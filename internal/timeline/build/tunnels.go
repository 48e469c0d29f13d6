package build

import "github.com/getdwell/dwell/recording"

// through notes what was agreed with a proxy: until then the connection was being set up, and
// what was asked was of the proxy alone. One that refused ends as a connection that failed.
func (c *connFacts) through(at recording.Time, x *recording.Tunnel) {
	c.tunnel, c.protocol, c.reached, c.established = x, recording.ProtocolUnknown, c.established, at
	c.asks, c.answers = nil, nil
	if x.Refused == 1 {
		c.established = recording.NoTime
	}
}

// behind is where, in each direction, the bytes begin that are not a proxy's.
func (c *connFacts) behind() (from [2]int64) {
	if c.tunnel != nil {
		from[recording.Write], from[recording.Read] = c.tunnel.Written, c.tunnel.Read
	}
	return from
}

// refused reports that a proxy did not let the connection through.
func (c *connFacts) refused() bool { return c.tunnel != nil && c.tunnel.Refused == 1 }
