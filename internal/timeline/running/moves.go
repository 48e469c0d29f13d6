package running

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// goMoved lists what some goroutines read and wrote, in order for each connection: goroutines that let others continue
// and read outbound connections.
func goMoved(f *facts.Facts) map[timeline.GoroutineKey][]timeline.Move {
	wakes := map[timeline.GoroutineKey]bool{}
	for _, u := range f.Parks.Unparks {
		if u.Goroutine != recording.NoGoroutine {
			wakes[f.GoKeyOf(u.Thread, u.Goroutine)] = true
		}
	}
	readers := map[timeline.GoroutineKey]bool{}
	for i := range f.Conns {
		if c := &f.Conns[i]; c.Decl.Side == recording.Outbound {
			eachRun(c.Decl.Process, c.Chunks[recording.Read], func(k timeline.GoroutineKey, _ []facts.Chunk) {
				if wakes[k] {
					readers[k] = true
				}
			})
		}
	}
	moves := map[timeline.GoroutineKey][]timeline.Move{}
	for i := range f.Conns {
		c := &f.Conns[i]
		for dir, chunks := range c.Chunks {
			eachRun(c.Decl.Process, chunks, func(k timeline.GoroutineKey, run []facts.Chunk) {
				if !readers[k] {
					return
				}
				list := moves[k]
				for n := range run {
					x := &run[n]
					m := timeline.Move{At: x.First(), Arrived: x.Arrived, Conn: timeline.None}
					if recording.Direction(dir) == recording.Read && c.Decl.Side == recording.Outbound && x.Arrived != recording.NoTime {
						m.Conn = int32(i)
					}
					list = append(list, m)
				}
				moves[k] = list
			})
		}
	}
	return moves
}

// ThreadMoves lists, by thread, what threads read and wrote that read outbound connections of HTTP/2, in order for each
// connection. Such a thread reads for all who share the connection, and lets each of them continue.
func ThreadMoves(f *facts.Facts) map[recording.ThreadID][]timeline.Move {
	moves := map[recording.ThreadID][]timeline.Move{}
	for i := range f.Conns {
		if c := &f.Conns[i]; multiplexed(c) {
			for k := range c.Chunks[recording.Read] {
				if x := &c.Chunks[recording.Read][k]; x.Goroutine == recording.NoGoroutine {
					moves[x.Thread] = nil
				}
			}
		}
	}
	if len(moves) == 0 {
		return nil
	}
	for i := range f.Conns {
		c := &f.Conns[i]
		for dir, chunks := range c.Chunks {
			for k := range chunks {
				x := &chunks[k]
				list, reads := moves[x.Thread]
				if !reads {
					continue
				}
				m := timeline.Move{At: x.First(), Arrived: x.Arrived, Conn: timeline.None}
				if recording.Direction(dir) == recording.Read && multiplexed(c) && x.Arrived != recording.NoTime {
					m.Conn = int32(i)
				}
				moves[x.Thread] = append(list, m)
			}
		}
	}
	return moves
}

// multiplexed reports whether a connection is outbound and carries many calls at the same time.
func multiplexed(c *facts.Conn) bool {
	return c.Decl.Side == recording.Outbound && c.Protocol == recording.ProtocolHTTP2
}

// eachRun visits chunks in runs that one goroutine after another read or wrote.
func eachRun(p recording.ProcessID, chunks []facts.Chunk, visit func(timeline.GoroutineKey, []facts.Chunk)) {
	for from := 0; from < len(chunks); {
		to := from + 1
		for to < len(chunks) && chunks[to].Goroutine == chunks[from].Goroutine {
			to++
		}
		visit(timeline.GoroutineKey{Process: p, Goroutine: chunks[from].Goroutine}, chunks[from:to])
		from = to
	}
}
