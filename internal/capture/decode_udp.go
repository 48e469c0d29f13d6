//go:build linux && (amd64 || arm64)

package capture

import "github.com/getdwell/dwell/recording"

// exchangesIdle is for how long, in ns, a socket of UDP is remembered that nothing goes
// through: longer than the kernel's side tells of it without declaring it again.
const exchangesIdle = 4 * 5_000_000_000

// exchanges declares what a socket of UDP exchanges with a peer.
func (d *decoder) exchanges(c *conn, e *probesConnEvent) {
	c.udp, c.used = true, c.began
	c.fact.Thread = d.actor(&e.H)
	d.declare(c)
	d.emit(c.began, &recording.ConnProtocol{Conn: c.fact.ID, Protocol: recording.ProtocolUDP})
}

// forgetExchanges lets go of sockets of UDP that nothing goes through: nobody tells when those
// are closed.
func (d *decoder) forgetExchanges() {
	for _, c := range d.conns {
		if c.udp && c.ended == recording.NoTime && d.now.Sub(c.used) > exchangesIdle {
			c.ended = d.now
			d.closed = append(d.closed, c)
		}
	}
}
