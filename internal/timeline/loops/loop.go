// Package loops lists what event loops were seen to do, and cuts that into turns. It has two steps:
//
//	Gather  makes the moves of each loop from facts and exchanges: what it read, wrote and waited for, and what called back.
//	        It runs before package loopcalls, which decides the requests of calls from the moves. If a move is missing or of
//	        the wrong kind, open loop.go; if messages of worker threads are paired wrongly, mail.go.
//	Cut     runs once each call has its request, and makes the Turns: spans in which a loop worked for one request, with
//	        what it resumed for (loopturns.go, turns.go; defers.go finds loops that queue what they read).
//
// Nothing here assigns a call to a request: for a wrong one, see package loopcalls.
package loops

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

// Move is one thing that a loop strand was seen to do.
type Move struct {
	At      recording.Time
	Ready   recording.Time // when what it did became possible; NoTime: unknown
	Exec    int64          // Node's async ids, 0: unknown; of MoveBlock, Exec 1: a timer ended it; of MoveBoundary, Trigger 1: timers run
	Trigger int64
	Counter int64
	Fires   recording.Time     // of a move that begins a turn: when the first timer set in that turn fired; 0: none did
	Port    int64              // of MoveFired: the port that delivered a message, 0: no message; of MovePost: the port that a message is sent by
	Request timeline.RequestID // inbound: the request of the bytes; else None
	Call    timeline.CallID    // outbound: the call of the bytes; else None
	Conn    int32              // index in facts.conns, or NoConn
	By      Owner              // of MoveFired: the owner that waited for it, once known
	Post    int32              // of port moves: the number, from 1, of the message that is sent or answered; 0: not known
	Kind    MoveKind
	Done    bool // of MoveFired: it reports a finished task of the thread pool
	Own     bool // of a response: its async ids show that its own request asked for it
	Same    bool // of MoveFired: it ran in the same callback as the one before
	Several bool // of a request read together with others: it is not known which of them a turn, or a wait for a place, belongs to
}

// NoConn is the connection of a move that involves none.
const NoConn int32 = -1

// MoveKind says what a move was.
type MoveKind int8

const (
	MoveForeign   MoveKind = iota // bytes of no request or call; or the end of a connection that carried only one call
	MoveRead                      // inbound: read the first bytes of a request
	MoveBody                      // inbound: read more of it
	MoveRespond                   // inbound: wrote a response
	MoveConnect                   // outbound: began to connect
	MoveHandshake                 // outbound: read or wrote before the first call was sent
	MoveSend                      // outbound: wrote a request
	MoveAnswer                    // outbound: read an answer
	MoveAside                     // wrote bytes of no request or call
	MoveBlock                     // went to sleep until something happens
	MoveBoundary                  // began callbacks that no socket caused
	MoveFired                     // one of those resolved a promise or reports a thread-pool task: its asker goes on (loopcalls/fired.go)
	MovePost                      // sent a message to another thread
	MoveAlong                     // like MoveFired, but in the turn in which it was asked for: that turn goes on
	MoveUntold                    // from now on it is not known which callbacks fire
)

// Gather lists what every loop strand did, in order of time. It is empty without such strands.
func Gather(t *timeline.Timeline, f *facts.Facts, requests []exchange.Request, calls []exchange.Call) []Loop {
	var all []Loop
	place := make([]int32, len(t.Strands)) // by strand: its index in all, plus 1
	for i := range t.Strands {
		if t.Strands[i].Loop {
			all = append(all, Loop{Strand: timeline.StrandID(i)})
			place[i] = int32(len(all))
			if i < len(f.Threads) {
				th := &f.Threads[i]
				all[len(all)-1].Moves = make([]Move, 0, th.Acts+count(th.Steps, asleep))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	g := gatherer{t: t, f: f, place: place, all: all}
	wander := Wandering(t, requests)
	for i := range all {
		all[i].Wander = wander[t.Strands[all[i].Strand].Process]
	}
	onConn := ByConn(f, requests, calls)
	g.pauses()
	merged(g.flows, len(f.Conns), func(i int) recording.Time { return f.Conns[i].At }, func(i int) []flow {
		if f.Conns[i].Decl.Side == recording.Outbound {
			return g.outbound(i, onConn[i], calls)
		}
		slices.SortFunc(onConn[i], func(a, b int32) int { return cmp.Compare(t.Requests[a].Ordinal, t.Requests[b].Ordinal) })
		return g.inbound(i, onConn[i], requests)
	})
	for i := range all {
		lists.SortByTime(all[i].Moves, func(m *Move) recording.Time { return m.At })
		all[i].Moves = pairMail(all[i].Moves, t.Windows)
		all[i].Settled = lists.ByTime(all[i].Settled, func(a *Settled) recording.Time { return a.At })
	}
	return all
}

// Loop is what one loop did.
type Loop struct {
	Strand  timeline.StrandID
	Wander  bool // requests that it reads continue on other loops, as with virtual threads
	Moves   []Move
	Settled []Settled // promises that were resolved and whose waiter is known
}

// ByConn lists the requests, or calls, of each connection.
func ByConn(f *facts.Facts, requests []exchange.Request, calls []exchange.Call) [][]int32 {
	onConn := lists.Grouped[int32](len(f.Conns), len(calls), func(i int) int { return calls[i].Conn }).Lists()
	for conn, list := range lists.Grouped[int32](len(f.Conns), len(requests), func(i int) int { return int(requests[i].Conn) }).Lists() {
		onConn[conn] = append(onConn[conn], list...)
	}
	return onConn
}

// gatherer makes the moves of all loops (Gather).
type gatherer struct {
	t     *timeline.Timeline
	f     *facts.Facts
	place []int32 // by strand: its index in all, plus 1; 0: not a loop
	all   []Loop
	flows []flow // of moves that involve no connection
}

// add adds a move of a thread, if that thread is a loop.
func (g *gatherer) add(th recording.ThreadID, m Move) {
	if s := g.f.Strand(th); s != timeline.None && g.place[s] > 0 {
		loop := &g.all[g.place[s]-1]
		loop.Moves = append(loop.Moves, m)
	}
}

func chunkMove(c facts.Chunk, conn int) Move {
	return Move{At: c.At, Conn: int32(conn), Request: timeline.None, Call: timeline.None, Exec: c.Exec, Trigger: c.Trigger, Counter: c.Counter}
}

// chunks is the flow of one direction of the i-th connection; note fills in what each move is.
func (g *gatherer) chunks(i int, dir recording.Direction, note func(n int, chunk *facts.Chunk, m *Move)) flow {
	list := g.f.Conns[i].Chunks[dir]
	return flow{
		many: len(list), at: func(n int) recording.Time { return list[n].At },
		add: func(n int) {
			m := chunkMove(list[n], i)
			note(n, &list[n], &m)
			g.add(list[n].Thread, m)
		},
	}
}

// inbound returns the flows of the i-th connection, which carried the listed requests.
func (g *gatherer) inbound(i int, list []int32, requests []exchange.Request) []flow {
	asked, replied := 0, 0
	return []flow{g.chunks(i, recording.Read, func(n int, chunk *facts.Chunk, m *Move) {
		for asked < len(list) && after(n, &requests[list[asked]].Asked) {
			asked++
		}
		if asked < len(list) && holds(n, &requests[list[asked]].Asked) {
			m.Request, m.Kind, m.Ready = timeline.RequestID(list[asked]), MoveBody, chunk.Arrived
			if int32(n) == requests[list[asked]].Asked.First {
				m.Kind = MoveRead
				m.Several = together(list, requests, asked)
			}
		}
	}), g.chunks(i, recording.Write, func(n int, _ *facts.Chunk, m *Move) {
		for replied < len(list) && after(n, &requests[list[replied]].Replied) {
			replied++
		}
		if m.Kind = MoveAside; replied < len(list) && holds(n, &requests[list[replied]].Replied) {
			m.Request, m.Kind = timeline.RequestID(list[replied]), MoveRespond
			m.Several = together(list, requests, replied)
		}
	})}
}

// together reports whether the k-th request on a connection was read in one go with the one before or after it.
func together(list []int32, requests []exchange.Request, k int) bool {
	first := requests[list[k]].Asked.First
	return k > 0 && requests[list[k-1]].Asked.First == first || k+1 < len(list) && requests[list[k+1]].Asked.First == first
}

// after reports whether the n-th chunk comes after a message, or the message has no chunks.
func after(n int, m *exchange.Chunks) bool { return m.None() || int32(n) > m.Last() }

func holds(n int, m *exchange.Chunks) bool { return int32(n) >= m.First && int32(n) <= m.Last() }

// outbound returns the flows of the i-th connection, which carried the listed calls. What happened before the first
// call was sent belongs to that call, which waits for it.
func (g *gatherer) outbound(i int, list []int32, calls []exchange.Call) []flow {
	c := &g.f.Conns[i]
	opener, opens := timeline.CallID(timeline.None), MoveConnect
	if len(list) > 0 && g.t.Calls[list[0]].New {
		if g.idle(c, &calls[list[0]]) {
			opens = MoveAside
		} else {
			opener = timeline.CallID(list[0])
		}
	}
	opening := flow{at: func(int) recording.Time { return c.At }, add: func(int) {
		d := c.Decl
		g.add(d.Thread, Move{At: c.At, Kind: opens, Call: opener, Request: timeline.None, Conn: int32(i), Exec: d.Exec, Trigger: d.Trigger, Counter: d.Counter})
	}}
	if c.Decl.Existing != 1 {
		opening.many = 1
	}
	return []flow{opening, g.sent(i, opener, list, calls), g.answered(i, opener, list, calls)}
}

// sent is the flow of writes on an outbound connection that was opened for a call.
func (g *gatherer) sent(i int, opener timeline.CallID, list []int32, calls []exchange.Call) flow {
	k := 0
	return g.chunks(i, recording.Write, func(n int, _ *facts.Chunk, m *Move) {
		for k < len(list) && after(n, &calls[list[k]].Exchange.Asked.Chunks) {
			k++
		}
		switch {
		case k < len(list) && holds(n, &calls[list[k]].Exchange.Asked.Chunks):
			m.Call, m.Kind, m.Ready = timeline.CallID(list[k]), MoveSend, g.f.Conns[i].Established
			if k > 0 { // since when the connection was free for it
				m.Ready = g.t.Calls[list[k-1]].End
			}
		case k == 0 && opener != timeline.None:
			m.Call, m.Kind, m.Ready = opener, MoveHandshake, g.f.Conns[i].Established
		default:
			m.Kind = MoveAside
		}
	})
}

// answered is the flow of reads on that connection.
func (g *gatherer) answered(i int, opener timeline.CallID, list []int32, calls []exchange.Call) flow {
	k := 0
	return g.chunks(i, recording.Read, func(n int, chunk *facts.Chunk, m *Move) {
		for k < len(list) && after(n, &calls[list[k]].Exchange.Replied.Chunks) {
			k++
		}
		m.Ready = chunk.Arrived
		switch {
		case k < len(list) && holds(n, &calls[list[k]].Exchange.Replied.Chunks):
			m.Call, m.Kind = timeline.CallID(list[k]), MoveAnswer
		case k == 0 && opener != timeline.None && chunk.Bytes > 0:
			m.Call, m.Kind = opener, MoveHandshake
		case chunk.Bytes == 0 && len(list) == 1: // the connection's only call: its answer has ended
			m.Call = timeline.CallID(list[0])
		}
	})
}

// idle reports whether a connection was up and unused when its first call was sent: the loop had slept since. Then it
// was opened ahead of that call, as undici does to replace a lost one. This is decided only for plain HTTP: only
// there a caller that waits for a connection is known to send at once.
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

// pauses adds the flows of what ends a loop's turn besides sockets: sleeps and boundaries.
func (g *gatherer) pauses() {
	names := g.names()
	for i := range g.all {
		if loop := &g.all[i]; int(loop.Strand) < len(g.f.Threads) {
			g.flows = append(g.flows, g.sleeps(loop, names[loop.Strand]))
		}
	}
	vain := InVain(g.f.Boundaries)
	g.flows = append(g.flows, flow{
		many: len(g.f.Boundaries), at: func(n int) recording.Time { return g.f.Boundaries[n].At },
		add: func(n int) { g.boundary(g.f.Boundaries[n], vain[n]) },
	})
}

// sleeps is the flow of a loop's sleeps; named lists when answers arrived to names that it looked up itself.
func (g *gatherer) sleeps(loop *Loop, named []recording.Time) flow {
	steps, own := g.f.Threads[loop.Strand].Steps, g.t.Strands[loop.Strand].Poll
	return flow{
		many: len(steps),
		at: func(n int) recording.Time {
			if s := &steps[n]; asleep(s) {
				return s.Off.Since
			}
			return steps[n].At
		},
		add: func(n int) {
			s := &steps[n]
			if !asleep(s) {
				return
			}
			m := Move{At: s.Off.Since, Ready: s.Off.Woken, Kind: MoveBlock, Request: timeline.None, Call: timeline.None, Conn: NoConn, Counter: s.Off.Counter}
			if timeline.PollWait(s.Off.Syscall) && own.Has(s.Off) {
				for len(named) > 0 && named[0] < s.Off.Since {
					named = named[1:]
				}
				packet := len(named) > 0 && named[0] <= s.At
				if s.Off.Timed == 1 && s.Off.WakerKind == recording.WakerInterrupt && !packet {
					m.Exec = 1
				}
			} else if !loop.Wander || s.Off.Syscall != "futex" { // the thread has no task
				return
			}
			loop.Moves = append(loop.Moves, m)
		},
	}
}

// asleep reports a sleep.
func asleep(s *facts.Step) bool { return s.Off != nil && s.Off.State == recording.OffSleep }

// count counts the elements of a list for which such is true.
func count[T any](list []T, such func(*T) bool) (n int) {
	for i := range list {
		if such(&list[i]) {
			n++
		}
	}
	return n
}

// boundary adds a point where something else begins on a loop; vain: a port was found to have no more messages.
func (g *gatherer) boundary(b facts.Boundary, vain bool) {
	m := Move{At: b.At, Kind: MoveBoundary, Request: timeline.None, Call: timeline.None, Conn: NoConn, Exec: b.Exec, Counter: b.Counter}
	switch b.What {
	case "timers":
		m.Trigger = 1
	case "resolved", "done":
		if b.What == "resolved" {
			g.noteAwaited(b)
		}
		m.Kind, m.By, m.Trigger, m.Done = MoveFired, Nobody, b.Trigger, b.What == "done"
	case "posted":
		m.Kind, m.By, m.Trigger, m.Port = MovePost, Nobody, b.Trigger, b.Port
	case "takes":
		m.Kind, m.Port = MoveAlong, b.Port
	case "messages", "message":
		if m.Port = b.Port; !vain { // else the messages of that port are over, and something else begins
			m.Kind, m.By = MoveFired, Nobody
		}
	case "awaited", "moved":
		g.noteAwaited(b)
		return
	case "spent":
		g.untold(b.Thread, b.At)
		return
	}
	g.add(b.Thread, m)
}

// noteAwaited notes that a promise was resolved, or that its waiter was moved.
func (g *gatherer) noteAwaited(b facts.Boundary) {
	if s := g.f.Strand(b.Thread); s != timeline.None && g.place[s] > 0 {
		loop := &g.all[g.place[s]-1]
		loop.Settled = append(loop.Settled, Settled{b.At, b.Exec, b.Waiter, b.To})
	}
}

// untold adds a move to the loops of a process: from now on it is not known which timers fire there.
func (g *gatherer) untold(by recording.ThreadID, at recording.Time) {
	for i := range g.all {
		if s := g.all[i].Strand; int(s) < len(g.f.Threads) && g.f.SameProcess(by, g.f.Threads[s].Process) {
			g.all[i].Moves = append(g.all[i].Moves, Move{At: at, Kind: MoveUntold, Request: timeline.None, Call: timeline.None, Conn: NoConn})
		}
	}
}

// names lists, by loop, when answers arrived to names that the loop looks up itself: a sleep that one of them ends is
// not ended by a timer.
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
