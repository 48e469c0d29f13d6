package timeline

import "github.com/getdwell/dwell/recording"

// addGoroutines adds a Strand for each goroutine that served a request or wrote a
// call, and moves those requests and calls to it.
func addGoroutines(t *Timeline, f *facts, requests []served, calls []made) {
	type key struct {
		process   recording.ProcessID
		goroutine recording.GoroutineID
	}
	index := map[key]StrandID{}
	strand := func(p recording.ProcessID, g recording.GoroutineID) StrandID {
		k := key{p, g}
		id, ok := index[k]
		if !ok {
			id = StrandID(len(t.Strands))
			index[k] = id
			t.Strands = append(t.Strands, Strand{Goroutine: g, Process: p})
		}
		return id
	}
	for i := range t.Requests {
		r, x := &t.Requests[i], &requests[i].x
		c := &f.conns[requests[i].conn]
		g := recording.NoGoroutine
		if !x.replied.none() {
			g = c.chunks[recording.Write][x.replied.first].Goroutine
		}
		if g == recording.NoGoroutine && !x.asked.none() {
			g = c.chunks[recording.Read][x.asked.first+x.asked.n-1].Goroutine
		}
		if g != recording.NoGoroutine {
			r.Strand = strand(r.Process, g)
		}
	}
	for i := range t.Calls {
		x := &calls[i].x
		if x.asked.none() {
			continue
		}
		if g := f.conns[calls[i].conn].chunks[recording.Write][x.asked.first].Goroutine; g != recording.NoGoroutine {
			t.Calls[i].Strand = strand(t.Calls[i].Process, g)
		}
	}
}

// associateGo gives new connections of Go programs to the request whose goroutine
// dialled. Calls on pooled connections run on the pool's own goroutines: which request
// they belong to is not known.
func associateGo(t *Timeline, f *facts, work []made, o owners) {
}

// unreadGo tiles the time in which nobody read a request of a Go program.
func (s *segmenter) unreadGo(r *Request, p *painter) {}

// goHandler tiles the time from reading a request to its last byte in a Go program.
func (s *segmenter) goHandler(r *Request, p *painter) {}
