package build

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Whom a datagram answers is not known while several have asked through one socket. On a loop it
// shows: a request that has one question open there goes on right after it was read.

// datagramAnswers pairs questions of a loop's requests over UDP with the datagrams after which the
// requests went on.
type datagramAnswers struct {
	t     *timeline.Timeline
	f     *facts.Facts
	calls []exchange.Call
	taken map[*facts.Chunk]bool
}

// answerDatagrams settles the calls that are known by that, and the turns in which requests resumed for them.
func answerDatagrams(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, turns *loops.Turns) {
	open := make(map[timeline.RequestID][]timeline.CallID)
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != timeline.None && c.Excluded == exchange.Unpaired && f.Conns[calls[i].Conn].Protocol == recording.ProtocolUDP {
			open[c.Request] = append(open[c.Request], timeline.CallID(i))
		}
	}
	if len(open) == 0 {
		return
	}
	d := datagramAnswers{t, f, calls, map[*facts.Chunk]bool{}}
	for _, k := range lists.Sorted(len(turns.All), func(i int) recording.Time { return turns.All[i].Last }) {
		u := &turns.All[k]
		if u.How != loops.ResumeUnseen || u.Call != timeline.None {
			continue
		}
		if id, rest := onlyAsked(t, open[u.Request], u.Last); id != timeline.None && d.answer(u, id) {
			open[u.Request] = rest
		}
	}
}

// onlyAsked is the only one of some calls that was sent before a time, None if there are more, and the others.
func onlyAsked(t *timeline.Timeline, list []timeline.CallID, before recording.Time) (only timeline.CallID, rest []timeline.CallID) {
	only = timeline.None
	for _, id := range list {
		switch {
		case t.Calls[id].Sent >= before:
			rest = append(rest, id)
		case only != timeline.None:
			return timeline.None, nil
		default:
			only = id
		}
	}
	return only, rest
}

// answer gives a call the last datagram that its loop read before a request went on, in the same
// run; false if there is none that came since it was sent and that nobody else had.
func (d *datagramAnswers) answer(u *loops.Turn, id timeline.CallID) bool {
	call := &d.t.Calls[id]
	reads := d.f.Conns[d.calls[id].Conn].Chunks[recording.Read]
	i := sort.Search(len(reads), func(k int) bool { return reads[k].At > u.Last })
	if i == 0 {
		return false
	}
	read := &reads[i-1]
	if d.taken[read] || read.Arrived < call.Sent || d.f.Strand(read.Thread) != u.Strand || timeline.Slept(d.t, u.Strand, read.At, u.Last) {
		return false
	}
	d.taken[read] = true
	call.Arrived, call.FirstRead, call.End, call.Excluded = read.Arrived, read.First(), read.At, ""
	exchange.Settle(call, &d.calls[id].Bounds)
	u.Call, u.How, u.Ready, u.Timer = id, loops.ResumeCall, read.Arrived, false
	u.From = read.First()
	return true
}
