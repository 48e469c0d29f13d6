package running

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// goMoved lists what goroutines that let others go on read and wrote, of each connection in order.
func goMoved(f *facts.Facts) map[timeline.GoroutineKey][]timeline.Move {
	moves := map[timeline.GoroutineKey][]timeline.Move{}
	for _, u := range f.Parks.Unparks {
		if u.Goroutine != recording.NoGoroutine {
			moves[f.GoKeyOf(u.Thread, u.Goroutine)] = nil
		}
	}
	for i := range f.Conns {
		c := &f.Conns[i]
		for dir, chunks := range c.Chunks {
			for n := range chunks {
				x := &chunks[n]
				k := timeline.GoroutineKey{Process: c.Decl.Process, Goroutine: x.Goroutine}
				list, ok := moves[k]
				if !ok {
					continue
				}
				m := timeline.Move{At: x.First(), Arrived: x.Arrived, Conn: timeline.None}
				if recording.Direction(dir) == recording.Read && c.Decl.Side == recording.Outbound && x.Arrived != recording.NoTime {
					m.Conn = int32(i)
				}
				moves[k] = append(list, m)
			}
		}
	}
	return moves
}
