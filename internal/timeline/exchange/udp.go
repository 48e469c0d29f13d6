package exchange

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// udpForgotten is how long an unanswered datagram is waited for.
const udpForgotten recording.Duration = 5_000_000_000

// manyUnanswered bounds how many unanswered datagrams are remembered. While there are any, it is not known which of
// them the next answer belongs to.
const manyUnanswered = 64

// asker is what asks one thing after the other: a goroutine, a task, or a thread.
type asker struct {
	goroutine recording.GoroutineID
	context   recording.ContextID
	thread    recording.ThreadID
}

func askerOf(c *facts.ChunkBy) asker {
	switch {
	case c.Goroutine != recording.NoGoroutine:
		return asker{goroutine: c.Goroutine}
	case c.Context != recording.NoContext:
		return asker{context: c.Context}
	}
	return asker{thread: c.Thread}
}

// udpWalk pairs what was asked over UDP with the answers.
type udpWalk struct {
	t     *timeline.Timeline
	f     *facts.Facts
	moved map[asker][]facts.IOSpan // what each asker over UDP read and wrote on other connections, in order
}

func newUDPWalk(t *timeline.Timeline, f *facts.Facts) *udpWalk {
	w := &udpWalk{t: t, f: f, moved: map[asker][]facts.IOSpan{}}
	each := func(udp bool, do func(recording.Direction, facts.Chunk)) {
		for i := range f.Conns {
			if (f.Conns[i].Protocol == recording.ProtocolUDP) == udp {
				for dir, chunks := range f.Conns[i].Chunks {
					for _, c := range chunks {
						do(recording.Direction(dir), c)
					}
				}
			}
		}
	}
	each(true, func(_ recording.Direction, c facts.Chunk) { w.moved[askerOf(c.ChunkBy)] = nil })
	if len(w.moved) == 0 {
		return w
	}
	each(false, func(dir recording.Direction, c facts.Chunk) {
		if list, asks := w.moved[askerOf(c.ChunkBy)]; asks {
			w.moved[askerOf(c.ChunkBy)] = append(list, facts.IOSpan{From: c.First(), To: c.At, Dir: dir})
		}
	})
	for _, list := range w.moved {
		slices.SortFunc(list, func(a, b facts.IOSpan) int { return cmp.Compare(a.To, b.To) })
	}
	return w
}

// exchanges finds what a UDP socket asked a peer, and the answers, which only their order pairs. If an asker sends the
// same again before any answer, and before it did anything else, the question is repeated for want of an answer. If
// several questions are open at once, it is not known which answer belongs to which.
func (u *udpWalk) exchanges(c *facts.Conn) (out []exchange) {
	writes, reads := c.Chunks[recording.Write], c.Chunks[recording.Read]
	var open []int // indexes in out of the exchanges without an answer
	for w, r := 0, 0; w < len(writes) || r < len(reads); {
		if r == len(reads) || w < len(writes) && writes[w].At <= reads[r].At {
			open = slices.DeleteFunc(open, func(i int) bool { return u.over(writes[out[i].asked.First], writes[w]) })
			switch n := len(open); {
			case n > 0 && u.again(writes[out[open[n-1]].asked.First], writes[w]):
				out[open[n-1]].again = writes[w].At
			case n == 0 && u.refused(writes, out, writes[w]):
				n = len(out) - 1
				out[n].again, out[n].replied, open = writes[w].At, message{}, append(open, n)
			default:
				for _, i := range open {
					out[i].unpaired = true
				}
				x := exchange{ordinal: len(out), asked: message{Chunks: Chunks{First: int32(w)}}, again: recording.NoTime, unpaired: n > 0}
				x.asked.extend(writes, w, 0)
				out, open = append(out, x), append(open, len(out))
				open = open[max(0, len(open)-manyUnanswered):]
			}
			w++
			continue
		}
		if n := len(out); n > 0 && (out[n-1].unpaired || answers(&out[n-1], reads[r])) {
			if x := &out[n-1]; !x.unpaired {
				if x.replied.None() {
					x.replied = message{Chunks: Chunks{First: int32(r)}}
				}
				x.replied.extend(reads, r, 0)
			}
			open = open[min(1, len(open)):]
		}
		r++
	}
	return out
}

// refused reports whether what arrived was not the awaited answer, for example an answer to an earlier question: the
// asker kept sleeping, and asks again.
func (u *udpWalk) refused(writes []facts.Chunk, out []exchange, next facts.Chunk) bool {
	if len(out) == 0 || out[len(out)-1].replied.None() {
		return false
	}
	last := &out[len(out)-1]
	return u.again(writes[last.asked.First], next) && u.slept(next.Thread, last.replied.end, next.First())
}

// answers reports whether a datagram may answer a question: a datagram that arrived before the question answers
// something else.
func answers(x *exchange, read facts.Chunk) bool {
	return read.Arrived == recording.NoTime || read.Arrived >= x.asked.Begin
}

// again reports whether a datagram repeats what the same asker sent before and still waits for.
func (u *udpWalk) again(a, b facts.Chunk) bool {
	return a.Bytes == b.Bytes && a.Exec == b.Exec && askerOf(a.ChunkBy) == askerOf(b.ChunkBy) && !u.elsewhere(a, b)
}

// over reports whether the answer to a is no longer awaited when b is sent. Its asker has turned to other things since,
// and does one thing after the other: it is no thread, or it is a thread that slept until the answer should have come.
func (u *udpWalk) over(a, b facts.Chunk) bool {
	by := askerOf(a.ChunkBy)
	return b.At.Sub(a.At) > udpForgotten ||
		by == askerOf(b.ChunkBy) && u.elsewhere(a, b) && (by.thread == recording.NoThread || u.slept(a.Thread, a.At, b.First()))
}

// elsewhere reports whether the sender of a moved bytes of another connection before it sent b.
func (u *udpWalk) elsewhere(a, b facts.Chunk) bool {
	moved := since(u.moved[askerOf(a.ChunkBy)], a.At)
	return len(moved) > 0 && moved[0].From < b.First()
}

// since returns the last of some moves: those that ended at a time or later.
func since(moved []facts.IOSpan, at recording.Time) []facts.IOSpan {
	i, _ := slices.BinarySearchFunc(moved, at, func(m facts.IOSpan, at recording.Time) int { return cmp.Compare(m.To, at) })
	return moved[i:]
}

// slept reports whether a thread may have waited for a datagram in between.
func (u *udpWalk) slept(thread recording.ThreadID, from, to recording.Time) bool {
	strand := u.f.Strand(thread)
	return strand != timeline.None && slices.ContainsFunc(timeline.Clipped(u.t.Strands[strand].Intervals, from, to), awaitsDatagram)
}

// oneWay reports whether a call was not answered, and no strand waited for an answer. If a strand did wait, the call
// ends when the strand gave up, after it repeated the question if it did. If the strand then read from another
// connection, it had waited for that.
func (u *udpWalk) oneWay(c *timeline.Call, facts *facts.Conn, x exchange) bool {
	if x.unpaired || !x.replied.None() {
		return false
	}
	if c.Strand == timeline.None {
		return true
	}
	from := max(c.Sent, x.again)
	moved := since(u.moved[askerOf(facts.Chunks[recording.Write][x.asked.First].ChunkBy)], from)
	ivs := u.t.Strands[c.Strand].Intervals
	for i := sort.Search(len(ivs), func(k int) bool { return ivs[k].To > from }); i < len(ivs); i++ {
		iv := &ivs[i]
		switch {
		case len(moved) > 0 && moved[0].To <= iv.From:
			return true
		case iv.State != timeline.StateSleeping:
		case !awaitsDatagram(*iv) || len(moved) > 0 && moved[0].Dir == recording.Read && moved[0].From <= iv.To+timeline.AfterRead:
			return true
		default:
			c.End, c.Cut, c.Excluded = iv.To, true, ""
			return false
		}
	}
	return true
}

// awaitsDatagram reports whether a thread may wait for one socket's datagrams in a sleep. A loop in epoll may wait for
// anything.
func awaitsDatagram(iv timeline.Interval) bool {
	if iv.State != timeline.StateSleeping || iv.Off == nil {
		return false
	}
	switch iv.Off.Syscall {
	case "recvfrom", "recvmsg", "recvmmsg", "read", "poll", "ppoll", "select", "pselect6":
		return !timeline.OnNoFile(iv.Off)
	}
	return false
}
