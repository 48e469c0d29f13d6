package running

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// goMoved lists what some goroutines read and wrote, in order for each connection. These are the goroutines that
// read outbound connections and let others continue.
func goMoved(f *facts.Facts) map[timeline.GoroutineKey][]timeline.Move {
	wakes := map[timeline.GoroutineKey]bool{}
	for _, u := range f.Parks.Unparks {
		if u.Goroutine != recording.NoGoroutine {
			wakes[f.GoKeyOf(u.Thread, u.Goroutine)] = true
		}
	}
	return moved(f, reading[timeline.GoroutineKey]{
		conn: outbound,
		who: func(c *facts.Conn, x *facts.Chunk) timeline.GoroutineKey {
			return timeline.GoroutineKey{Process: c.Decl.Process, Goroutine: x.Goroutine}
		},
		is: func(k timeline.GoroutineKey) bool { return wakes[k] },
	})
}

// ThreadMoves lists what some threads read and wrote, in order for each connection. These are the threads that read
// outbound HTTP/2 connections. Such a thread reads for all requests that share the connection, and lets each of
// them continue.
func ThreadMoves(f *facts.Facts) map[recording.ThreadID][]timeline.Move {
	return moved(f, reading[recording.ThreadID]{
		conn: func(c *facts.Conn) bool { return outbound(c) && c.Protocol == recording.ProtocolHTTP2 },
		who: func(_ *facts.Conn, x *facts.Chunk) recording.ThreadID {
			if x.Goroutine != recording.NoGoroutine {
				return recording.NoThread
			}
			return x.Thread
		},
		is: func(th recording.ThreadID) bool { return th != recording.NoThread },
	})
}

func outbound(c *facts.Conn) bool { return c.Decl.Side == recording.Outbound }

// reading says which readers of which connections count.
type reading[K comparable] struct {
	conn func(*facts.Conn) bool            // whether readers of the connection count
	who  func(*facts.Conn, *facts.Chunk) K // the reader or writer of a chunk
	is   func(K) bool                      // whether such a reader counts
}

// moved lists all that readers of some connections read and wrote, on these connections and on others.
func moved[K comparable](f *facts.Facts, r reading[K]) map[K][]timeline.Move {
	moves := map[K][]timeline.Move{}
	for i := range f.Conns {
		if c := &f.Conns[i]; r.conn(c) {
			r.runs(c, c.Chunks[recording.Read], func(k K, _ []facts.Chunk) {
				if r.is(k) {
					moves[k] = nil
				}
			})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	for i := range f.Conns {
		c := &f.Conns[i]
		for dir, chunks := range c.Chunks {
			r.runs(c, chunks, func(k K, run []facts.Chunk) {
				list, reads := moves[k]
				if !reads {
					return
				}
				for n := range run {
					x := &run[n]
					m := timeline.Move{At: x.First(), Arrived: x.Arrived, Conn: timeline.None}
					if recording.Direction(dir) == recording.Read && r.conn(c) && x.Arrived != recording.NoTime {
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

// runs visits the chunks of a connection in runs, each by one reader or writer.
func (r *reading[K]) runs(c *facts.Conn, chunks []facts.Chunk, visit func(K, []facts.Chunk)) {
	for from := 0; from < len(chunks); {
		k, to := r.who(c, &chunks[from]), from+1
		for to < len(chunks) && r.who(c, &chunks[to]) == k {
			to++
		}
		visit(k, chunks[from:to])
		from = to
	}
}
