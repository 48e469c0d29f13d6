//go:build linux && (amd64 || arm64)

package capture

import "github.com/getdwell/dwell/recording"

// late records when the end of what was written left the host.
func (d *decoder) late(e *probesLateEvent) {
	if c := d.connOf(e.Id); c != nil {
		d.declare(c)
		d.live.goesOn(&c.answer, max(0, int64(e.Offset)-1), recording.Time(e.Left))
		d.emit(d.at, &recording.Late{Conn: c.fact.ID, Offset: int64(e.Offset), Left: recording.Time(e.Left), Window: int64(e.Window)})
	}
}

// retransmitted records that something was sent again on a connection.
func (d *decoder) retransmitted(e *probesRetransmitEvent) {
	if c := d.connOf(e.Id); c != nil {
		d.declare(c)
		d.emit(d.at, &recording.Retransmit{Conn: c.fact.ID})
	}
}
