package timeline

import "github.com/getdwell/dwell/recording"

type datagramAt struct {
	at Time
	*recording.Datagram
}

// buildDatagrams lists what was sent to telemetry daemons, with the request that the
// strand worked for. For a loop that is not known.
func buildDatagrams(t *Timeline, f *facts, o owners) {
	if len(f.datagrams) == 0 {
		return
	}
	goroutines := map[goKey]StrandID{}
	for i := range t.Strands {
		if g := t.Strands[i].Goroutine; g != recording.NoGoroutine {
			goroutines[goKey{t.Strands[i].Process, g}] = StrandID(i)
		}
	}
	t.Datagrams = make([]Datagram, 0, len(f.datagrams))
	for _, x := range f.datagrams {
		d := Datagram{
			Strand: f.strand(x.Thread), Request: None, Protocol: x.Protocol, Peer: x.Peer,
			From: x.at, To: x.at, Bytes: x.Bytes, Messages: x.Messages,
		}
		if x.Began != recording.NoTime {
			d.From = min(max(x.Began, f.start), x.at)
		}
		if x.Goroutine != recording.NoGoroutine {
			d.Strand = None
			if th := f.thread(x.Thread); th != nil {
				if s, ok := goroutines[goKey{th.process, x.Goroutine}]; ok {
					d.Strand = s
				}
			}
		}
		if d.Strand != None {
			d.Request = o.at(d.Strand, d.From)
		}
		t.Datagrams = append(t.Datagrams, d)
	}
	t.Datagrams = byTime(t.Datagrams, func(d *Datagram) Time { return d.From })
}
