package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// move is one thing that a loop strand was seen to do.
type move struct {
	at      recording.Time
	ready   recording.Time // when what it did became possible; NoTime unknown
	exec    int64          // Node's async ids, 0 unknown
	trigger int64
	counter int64
	fires   recording.Time     // of a move that begins a turn: when the first timer fired that was set in it; 0: none did
	port    int64              // of moveFired: the port by which a message came, 0: it is none; of movePost: by which one is sent
	request timeline.RequestID // inbound: whose bytes; else None
	call    timeline.CallID    // outbound: whose bytes; else None
	conn    int32              // index in facts.conns, or noConn
	by      ref                // of moveFired: who waited for it, once that is known
	post    int32              // of port: which message that was sent, or is answered, from 1; 0: not known
	kind    moveKind
	done    bool // of moveFired: the thread pool has done something
	own     bool // of a response: what wrote it was asked for by its request, as its trigger tells
	same    bool // of moveFired: in the callback in which the one before was
	several bool // of a request that was read with others in one go: whose turn began, or waited for its place, is not told
}

// noConn is the connection of what is done on none.
const noConn int32 = -1

// moveKind says what a move was.
type moveKind int8

const (
	moveForeign   moveKind = iota // bytes that belong to no request or call; or the end of what was read, of the connection's only call
	moveRead                      // inbound: read the first bytes of a request
	moveBody                      // inbound: read more of it
	moveRespond                   // inbound: wrote a response
	moveConnect                   // outbound: began to connect
	moveHandshake                 // outbound: read or wrote before the first call was sent
	moveSend                      // outbound: wrote a request
	moveAnswer                    // outbound: read an answer
	moveAside                     // wrote bytes that belong to no request or call
	moveBlock                     // went to sleep until something happens
	moveBoundary                  // began callbacks that no socket caused
	moveFired                     // one of those resolved a promise, or is of the thread pool: what goes on now is of whoever asked for it (fired.go)
	movePost                      // a message is sent to another thread
	moveAlong                     // the same, in the turn in which that was asked for: it goes on
	moveUntold                    // from now on it is not known which do
)

// loops gathers what every loop strand did, in order of time. Without such strands
// it is empty.
func loops(t *timeline.Timeline, f *facts.Facts, requests []exchange.Request, calls []exchange.Call) []loopMoves {
	var all []loopMoves
	place := make([]int32, len(t.Strands)) // in all, plus 1
	for i := range t.Strands {
		if t.Strands[i].Loop {
			all = append(all, loopMoves{strand: timeline.StrandID(i)})
			place[i] = int32(len(all))
			if i < len(f.Threads) {
				th := &f.Threads[i]
				all[len(all)-1].moves = make([]move, 0, th.Acts+len(th.Steps))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	g := gatherer{t: t, f: f, place: place, all: all}
	onConn := byConn(f, requests, calls)
	for i := range f.Conns {
		list := onConn[i]
		if f.Conns[i].Decl.Side == recording.Inbound {
			slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(t.Requests[a].Ordinal, t.Requests[b].Ordinal) })
			g.inbound(i, list, requests)
			f.Conns[i].Drop()
		} else {
			g.outbound(i, list, calls)
		}
	}
	wander := wandering(t, requests)
	for i := range all {
		all[i].wander = wander[t.Strands[all[i].strand].Process]
	}
	g.pauses()
	for i := range all {
		lists.SortByTime(all[i].moves, func(m *move) recording.Time { return m.at })
		all[i].moves = pairMail(all[i].moves, t.Windows)
		all[i].settled = lists.ByTime(all[i].settled, func(a *settled) recording.Time { return a.at })
	}
	return all
}

// loopMoves are what one loop did.
type loopMoves struct {
	strand  timeline.StrandID
	wander  bool // requests that it reads go on on other loops, as those of virtual threads do
	moves   []move
	settled []settled // promises that were resolved, where it is told what waits for them
}

// byConn lists the requests, or calls, of each connection.
func byConn(f *facts.Facts, requests []exchange.Request, calls []exchange.Call) [][]int32 {
	counts := make([]int32, len(f.Conns))
	for i := range requests {
		counts[requests[i].Conn]++
	}
	for i := range calls {
		counts[calls[i].Conn]++
	}
	onConn := lists.Sized[int32](counts)
	for i := range requests {
		onConn[requests[i].Conn] = append(onConn[requests[i].Conn], int32(i))
	}
	for i := range calls {
		onConn[calls[i].Conn] = append(onConn[calls[i].Conn], int32(i))
	}
	return onConn
}

type gatherer struct {
	t     *timeline.Timeline
	f     *facts.Facts
	place []int32 // by strand: its place in all, plus 1; 0 if it is no loop
	all   []loopMoves
}

// add adds a move of a thread, if that is a loop.
func (g *gatherer) add(th recording.ThreadID, m move) {
	if s := g.f.Strand(th); s != timeline.None && g.place[s] > 0 {
		loop := &g.all[g.place[s]-1]
		loop.moves = append(loop.moves, m)
	}
}

func chunkMove(c facts.Chunk, conn int) move {
	return move{at: c.At, conn: int32(conn), request: timeline.None, call: timeline.None, exec: c.Exec, trigger: c.Trigger, counter: c.Counter}
}

// inbound adds the moves on the i-th connection, which carried the listed requests.
func (g *gatherer) inbound(i int, list []int32, requests []exchange.Request) {
	c := &g.f.Conns[i]
	k := 0
	for n, chunk := range c.Chunks[recording.Read] {
		for k < len(list) && after(n, &requests[list[k]].Asked) {
			k++
		}
		m := chunkMove(chunk, i)
		if k < len(list) && holds(n, &requests[list[k]].Asked) {
			m.request, m.kind, m.ready = timeline.RequestID(list[k]), moveBody, chunk.Arrived
			if int32(n) == requests[list[k]].Asked.First {
				m.kind = moveRead
				m.several = together(list, requests, k)
			}
		}
		g.add(chunk.Thread, m)
	}
	k = 0
	for n, chunk := range c.Chunks[recording.Write] {
		for k < len(list) && after(n, &requests[list[k]].Replied) {
			k++
		}
		m := chunkMove(chunk, i)
		if k < len(list) && holds(n, &requests[list[k]].Replied) {
			m.request, m.kind = timeline.RequestID(list[k]), moveRespond
			m.several = together(list, requests, k)
		} else {
			m.kind = moveAside
		}
		g.add(chunk.Thread, m)
	}
}

// together reports that the k-th request on a connection was read with the one before or after
// it in one go.
func together(list []int32, requests []exchange.Request, k int) bool {
	first := requests[list[k]].Asked.First
	return k > 0 && requests[list[k-1]].Asked.First == first || k+1 < len(list) && requests[list[k+1]].Asked.First == first
}

// after reports that the n-th chunk comes after a message, or that it has none.
func after(n int, m *exchange.Chunks) bool { return m.None() || int32(n) > m.Last() }

func holds(n int, m *exchange.Chunks) bool { return int32(n) >= m.First && int32(n) <= m.Last() }

// outbound adds the moves on the i-th connection, which carried the listed calls.
// What happened before the first of them was sent belongs to it: it waits for it.
func (g *gatherer) outbound(i int, list []int32, calls []exchange.Call) {
	c := &g.f.Conns[i]
	opener, opens := timeline.CallID(timeline.None), moveConnect
	if len(list) > 0 && g.t.Calls[list[0]].New {
		if g.idle(c, &calls[list[0]]) {
			opens = moveAside
		} else {
			opener = timeline.CallID(list[0])
		}
	}
	d := c.Decl
	if d.Existing != 1 {
		g.add(d.Thread, move{at: c.At, kind: opens, call: opener, request: timeline.None, conn: int32(i), exec: d.Exec, trigger: d.Trigger, counter: d.Counter})
	}
	k := 0
	for n, chunk := range c.Chunks[recording.Write] {
		for k < len(list) && after(n, &calls[list[k]].Exchange.Asked.Chunks) {
			k++
		}
		m := chunkMove(chunk, i)
		switch {
		case k < len(list) && holds(n, &calls[list[k]].Exchange.Asked.Chunks):
			m.call, m.kind, m.ready = timeline.CallID(list[k]), moveSend, g.sendable(i, list, k)
		case k == 0 && opener != timeline.None:
			m.call, m.kind, m.ready = opener, moveHandshake, c.Established
		default:
			m.kind = moveAside
		}
		g.add(chunk.Thread, m)
	}
	k = 0
	for n, chunk := range c.Chunks[recording.Read] {
		for k < len(list) && after(n, &calls[list[k]].Exchange.Replied.Chunks) {
			k++
		}
		m := chunkMove(chunk, i)
		m.ready = chunk.Arrived
		switch {
		case k < len(list) && holds(n, &calls[list[k]].Exchange.Replied.Chunks):
			m.call, m.kind = timeline.CallID(list[k]), moveAnswer
		case k == 0 && opener != timeline.None && chunk.Bytes > 0:
			m.call, m.kind = opener, moveHandshake
		case chunk.Bytes == 0 && len(list) == 1: // of a connection for one call: its answer has ended
			m.call = timeline.CallID(list[0])
		}
		g.add(chunk.Thread, m)
	}
}

// idle reports a connection that was up and unused when its first call was sent: the loop had
// slept since. It was opened ahead of that call, as undici does in place of one that was lost.
// Of HTTP in the clear alone is it known that whoever waits for a connection sends at once.
func (g *gatherer) idle(c *facts.Conn, first *exchange.Call) bool {
	if c.Protocol != recording.ProtocolHTTP1 || c.Established == recording.NoTime || first.Exchange.Asked.None() {
		return false
	}
	s := g.f.Strand(c.Decl.Thread)
	if s == timeline.None {
		return false
	}
	steps, sent := g.f.Threads[s].Steps, first.Exchange.Asked.Begin
	i := sort.Search(len(steps), func(k int) bool { return steps[k].At > c.Established })
	for ; i < len(steps) && steps[i].At <= sent; i++ {
		if off := steps[i].Off; off != nil && off.State == recording.OffSleep && timeline.PollWait(off.Syscall) && off.Since > c.Established {
			return true
		}
	}
	return false
}

// sendable is when the connection was free for its k-th call: up, or answered.
func (g *gatherer) sendable(i int, list []int32, k int) recording.Time {
	if k > 0 {
		return g.t.Calls[list[k-1]].End
	}
	return g.f.Conns[i].Established
}

// pauses adds what ends a loop's turn besides sockets: sleeping, and boundaries.
func (g *gatherer) pauses() {
	names := g.names()
	for i := range g.all {
		loop := &g.all[i]
		if int(loop.strand) >= len(g.f.Threads) {
			continue
		}
		named, own := names[loop.strand], g.t.OwnPoll(loop.strand)
		for _, s := range g.f.Threads[loop.strand].Steps {
			if loop.wander && s.Off != nil && s.Off.State == recording.OffSleep && s.Off.Syscall == "futex" { // it has no task
				loop.moves = append(loop.moves, move{at: s.Off.Since, ready: s.Off.Woken, kind: moveBlock, request: timeline.None, call: timeline.None, conn: noConn, counter: s.Off.Counter})
			}
			if s.Off != nil && s.Off.State == recording.OffSleep && timeline.PollWait(s.Off.Syscall) && timeline.SamePoll(own, s.Off.Syscall) {
				for len(named) > 0 && named[0] < s.Off.Since {
					named = named[1:]
				}
				packet := len(named) > 0 && named[0] <= s.At
				timer := s.Off.Timed == 1 && s.Off.WakerKind == recording.WakerInterrupt && !packet
				m := move{at: s.Off.Since, ready: s.Off.Woken, kind: moveBlock, request: timeline.None, call: timeline.None, conn: noConn, counter: s.Off.Counter}
				if timer {
					m.exec = 1
				}
				loop.moves = append(loop.moves, m)
			}
		}
	}
	vain := inVain(g.f.Boundaries)
	for i, b := range g.f.Boundaries {
		m := move{at: b.At, kind: moveBoundary, request: timeline.None, call: timeline.None, conn: noConn, exec: b.Exec, counter: b.Counter}
		switch b.What {
		case "timers":
			m.trigger = 1
		case "resolved", "done":
			if b.What == "resolved" {
				g.noteAwaited(b)
			}
			m.kind, m.by, m.trigger, m.done = moveFired, nobody, b.Trigger, b.What == "done"
		case "posted":
			m.kind, m.by, m.trigger, m.port = movePost, nobody, b.Trigger, b.Port
		case "takes":
			m.kind, m.port = moveAlong, b.Port
		case "messages", "message":
			if m.port = b.Port; !vain[i] { // else that port's are over, and something else begins
				m.kind, m.by = moveFired, nobody
			}
		case "awaited", "moved":
			g.noteAwaited(b)
			continue
		case "spent":
			g.untold(b.Thread, b.At)
			continue
		}
		g.add(b.Thread, m)
	}
}

// noteAwaited notes that a promise was resolved.
func (g *gatherer) noteAwaited(b facts.Boundary) {
	if s := g.f.Strand(b.Thread); s != timeline.None && g.place[s] > 0 {
		loop := &g.all[g.place[s]-1]
		loop.settled = append(loop.settled, settled{b.At, b.Exec, b.Waiter, b.To})
	}
}

// untold adds a move to the loops of a process: which timers fire there is not told from now on.
func (g *gatherer) untold(by recording.ThreadID, at recording.Time) {
	for i := range g.all {
		if s := g.all[i].strand; int(s) < len(g.f.Threads) && g.f.SameProcess(by, g.f.Threads[s].Process) {
			g.all[i].moves = append(g.all[i].moves, move{at: at, kind: moveUntold, request: timeline.None, call: timeline.None, conn: noConn})
		}
	}
}

// names lists, by loop, when answers arrived to names that it looks up itself: what they
// end is no sleep.
func (g *gatherer) names() map[timeline.StrandID][]recording.Time {
	arrived := map[timeline.StrandID][]recording.Time{}
	for _, d := range g.f.DNS {
		if s := g.f.Strand(d.Thread); s != timeline.None && g.place[s] > 0 && d.Arrived != recording.NoTime {
			arrived[s] = append(arrived[s], d.Arrived)
		}
	}
	for _, list := range arrived {
		slices.Sort(list)
	}
	return arrived
}
