package segments

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// forBytes returns, latest first, what a strand waited for while another goroutine (by) waited for bytes of an outbound
// connection. By lets the strand continue, directly or through others; for example it reads for all goroutines that
// share the connection. The strand waited for the peer until the bytes arrived, then for a processor. If something was
// written on the connection after the wait began, the peer may have been asked only then, so the wait for the peer
// starts there.
func forBytes(s *segmenter, w follow, by timeline.StrandID, a timeline.Activity) []timeline.Segment {
	if a.Cause != timeline.CauseUnknown || a.Wait != timeline.None {
		return nil
	}
	x := timeline.AwaitedRead(s.t, by, a.From)
	if x == nil {
		return nil
	}
	from, came := a.From, min(max(x.Arrived, a.From), a.To)
	written := s.f.Conns[x.Conn].Chunks[recording.Write]
	if i := sort.Search(len(written), func(k int) bool { return written[k].At >= w.from }); i < len(written) && written[i].First() < x.Arrived {
		from = min(max(from, written[i].First()), came)
	}
	p := painter{cursor: from, end: a.To}
	p.add(timeline.Segment{From: from, To: came, Phase: timeline.PhaseHandler, Cause: timeline.CauseRemote, Quality: timeline.Inferred, Call: timeline.None, Strand: by, Blocker: timeline.None})
	if s.t.Strands[by].Goroutine == recording.NoGoroutine {
		return p.list
	}
	reader := timeline.Request{Process: s.t.Strands[by].Process, Strand: by}
	s.goWait(wait{&reader, by, came, a.To, timeline.PhaseHandler, timeline.None}, &p)
	list := slices.DeleteFunc(p.list, func(g timeline.Segment) bool { return g.Cause == timeline.CauseUnknown })
	slices.Reverse(list)
	return list
}
