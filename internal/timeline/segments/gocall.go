package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// goExchange tiles a span of a call's connect, handshake or answer in a Go program, which may contain several reads.
// Until the bytes of each read arrive, the call waits for the peer. Then the goroutine that reads is responsible, until
// it has written.
func (s *segmenter) goExchange(r *timeline.Request, w span, p *painter) {
	conn := &s.f.Conns[s.in.Calls[w.call].Conn]
	reads, writes := conn.Chunks[recording.Read], conn.Chunks[recording.Write]
	waits, k := w.from, 0 // since when the peer's answer is awaited
	for i, rd := range reads {
		if rd.At <= w.from || rd.Bytes == 0 {
			continue
		}
		ready := rd.Arrived
		if ready == recording.NoTime {
			ready = rd.At
		}
		ready = min(max(ready, waits), w.to)
		if ready >= w.to {
			break
		}
		p.add(s.remote(w, waits, ready))
		done := w.to // after the last read, all time is our own
		if i+1 < len(reads) && reads[i+1].At <= w.to {
			done = rd.At
			for ; k < len(writes) && writes[k].At < reads[i+1].At; k++ {
				done = max(done, min(writes[k].At, w.to))
			}
		}
		own := w
		own.from, own.to = ready, max(ready, done)
		s.goOwn(r, timeline.GoroutineKey{Process: r.Process, Goroutine: rd.Goroutine}, own, p)
		waits = own.to
	}
	up := w.to // what follows a connect is our own
	if c := s.t.Calls[w.call].Connected; w.phase == timeline.PhaseConnect && waits < c && c < w.to {
		up = c
	}
	p.add(s.remote(w, waits, up))
	w.from = up
	s.goOwn(r, timeline.GoroutineKey{Process: r.Process, Goroutine: conn.Decl.Goroutine}, w, p)
}

func (s *segmenter) remote(w span, from, to recording.Time) timeline.Segment {
	strand := s.t.Calls[w.call].Strand
	return timeline.Segment{From: from, To: to, Phase: w.phase, Cause: timeline.CauseRemote, Call: w.call, Strand: strand, Blocker: timeline.None}
}

// goOwn tiles a span in which a goroutine had what it needed. While it ran, its thread's states are the cause;
// otherwise it waited for a processor.
func (s *segmenter) goOwn(r *timeline.Request, g timeline.GoroutineKey, w span, p *painter) {
	at := w.from
	for _, u := range timeline.StintsAfter(s.goRuns.Stints[g], w.from) {
		if u.From >= w.to {
			break
		}
		from := max(u.From, at)
		s.goWait(wait{r, r.Strand, at, from, w.phase, w.call}, p)
		s.goStates(r, u, span{from, min(u.To, w.to), w.call, w.phase}, p)
		at = max(at, min(u.To, w.to))
	}
	s.goWait(wait{r, r.Strand, at, w.to, w.phase, w.call}, p)
}
