//go:build linux && (amd64 || arm64)

package capture

import "github.com/getdwell/dwell/recording"

// exchangesIdle is how long, in ns, an idle UDP socket is remembered: longer than the kernel side reports it without
// declaring it again.
const exchangesIdle = 4 * 5_000_000_000

// exchanges declares the exchange of a UDP socket with one peer.
func (d *decoder) exchanges(c *conn, e *probesConnEvent) {
	c.udp, c.used = true, c.began
	c.fact.Thread = d.actor(&e.H)
	d.declare(c)
	d.emit(c.began, &recording.ConnProtocol{Conn: c.fact.ID, Protocol: recording.ProtocolUDP})
}

// forgetExchanges ends idle UDP sockets, because their closing is not reported.
func (d *decoder) forgetExchanges() {
	for _, c := range d.conns {
		if c.udp && c.ended == recording.NoTime && d.now.Sub(c.used) > exchangesIdle {
			c.ended = d.now
			d.closed = append(d.closed, c)
		}
	}
}
