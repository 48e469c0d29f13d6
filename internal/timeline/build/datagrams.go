package build

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// buildDatagrams lists what was sent to telemetry daemons, with the request that the strand worked for. For a loop that
// is not known.
func buildDatagrams(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) {
	if len(f.Datagrams) == 0 {
		return
	}
	goroutines := facts.IndexGoroutines(t)
	t.Datagrams = make([]timeline.Datagram, 0, len(f.Datagrams))
	for _, x := range f.Datagrams {
		d := timeline.Datagram{
			Strand: f.Strand(x.Thread), Request: timeline.None, Protocol: x.Protocol, Peer: x.Peer,
			From: x.At, To: x.At, Bytes: x.Bytes, Messages: x.Messages,
		}
		if x.Goroutine != recording.NoGoroutine {
			d.Strand = goroutines.Of(f.GoKeyOf(x.Thread, x.Goroutine))
		}
		if d.Strand != timeline.None {
			d.Request = o.At(d.Strand, d.To)
			d.From = sendsFrom(t, d.Strand, d.To)
		}
		t.Datagrams = append(t.Datagrams, d)
	}
	t.Datagrams = lists.ByTime(t.Datagrams, func(d *timeline.Datagram) recording.Time { return d.From })
}

// sent is the longest time in which a thread that slept in a send returns from it.
const sent recording.Duration = 1_000_000

// sendsFrom returns when the send began that ended at a time, if it slept, as a datagram to a full queue does.
// Otherwise its beginning is not known, and sendsFrom returns its end.
func sendsFrom(t *timeline.Timeline, s timeline.StrandID, at recording.Time) recording.Time {
	ivs := t.Strands[s].Intervals
	i := sort.Search(len(ivs), func(k int) bool { return ivs[k].To >= at })
	if i == len(ivs) || ivs[i].State != timeline.StateRunning || at.Sub(ivs[i].From) > sent {
		return at
	}
	from := at
	for i--; i >= 0 && ivs[i].Off != nil && slices.Contains(sends, ivs[i].Off.Syscall); i-- {
		from = ivs[i].From
	}
	return from
}

// sends are the system calls that send a datagram.
var sends = []string{"sendto", "sendmsg", "sendmmsg", "write", "writev"}
