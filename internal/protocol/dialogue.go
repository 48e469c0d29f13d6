package protocol

import "github.com/getdwell/dwell/recording"

const (
	// proofs is how often a client must speak when nothing seems to await its reply,
	// before it is believed that nothing did when its commands were counted anew.
	proofs = 4
	// maxHeld bounds the replies that wait for that.
	maxHeld = 2048
)

// grammar is a protocol whose commands are answered in order.
type grammar interface {
	// starts reports whether b could begin an element of either side.
	starts(b []byte, fromClient bool) match
	// element takes one element; see the type of that name.
	element(d *dialogue, fromClient bool, p piece) int64
	// reset forgets an incomplete message of either side.
	reset(fromClient bool)
}

// dialogue follows the commands and replies of one connection. Its client may send
// several commands before it reads. What is not captured of a message may hide how many
// commands or replies follow it; then a client that speaks after the server is taken to
// have read all replies, as one does that waits for each. Of a client that was seen to
// send commands while others were under way that must first be proven: replies are held
// back meanwhile, and given up if one comes that answers nothing.
type dialogue struct {
	id      recording.ConnID
	client  recording.Direction
	grammar grammar
	tapes   [2]tape
	last    recording.Direction
	spoken  bool // last is set
	command *recording.Command
	reply   *recording.Reply
	pending int64 // commands not yet answered
	fresh   int64 // those of them sent since the server spoke
	unseen  bool  // others may have followed them
	skipped int64 // commands whose replies could not be told apart, not reported yet
	mixed   bool  // the client sends commands while others are under way
	busy    bool  // when this chunk came, others were
	orphan  bool  // a reply came that answers nothing
	joined  bool  // commands may have been under way when the first bytes were seen
	synced  bool  // replies have been followed before
	alone   bool  // what was lost sight of were bytes of the only reply under way
	onTrial bool  // whether the right replies are paired is not proven
	proven  int   // how often it seemed so
	held    []*recording.Reply
	deaf    bool // replies are no longer told apart
	ended   bool // the connection no longer speaks this protocol
	secured bool // but TLS
	facts   []recording.Fact
}

// chunk takes the next bytes of either direction.
func (d *dialogue) chunk(k chunk) []recording.Fact {
	fromClient := k.dir == d.client
	turned := !d.spoken || d.last != k.dir
	d.facts, d.last, d.spoken = nil, k.dir, true
	if d.ended || d.deaf && !fromClient {
		return nil
	}
	s := &d.tapes[k.dir]
	lost := s.lost || !s.seen
	s.follow(k)
	if s.lost && !lost {
		d.lose(fromClient, true)
	}
	d.busy = fromClient && d.pending > 0 && !d.tapes[1-d.client].lost
	if turned && fromClient {
		d.turn()
	}
	if s.lost && turned && d.grammar.starts(k.data, fromClient) != no {
		d.grammar.reset(fromClient)
		s.find(k.offset)
		if !fromClient {
			d.skip(d.pending - d.fresh)
			d.onTrial, d.proven = d.mixed && d.synced && !d.alone || d.joined, 0
			d.synced, d.joined = true, false
		}
	}
	if s.lost {
		d.unseen = d.unseen || fromClient
		return d.facts
	}
	broken := s.run(k, func(p piece) int64 {
		if d.ended {
			return -1
		}
		n := d.grammar.element(d, fromClient, p)
		if d.orphan {
			d.orphan, d.mixed = false, true
			return -1
		}
		return n
	})
	if s.lost && !d.ended {
		d.lose(fromClient, broken)
	}
	return d.facts
}

// lose ends the open message of a side whose bytes can no longer be followed.
func (d *dialogue) lose(fromClient, broken bool) {
	if fromClient {
		if !broken {
			d.asked(0)
		}
		d.command, d.unseen = nil, true
		return
	}
	d.answered(0)
	d.alone = !broken && d.pending == 0 && !d.unseen
	d.mixed = d.mixed || d.pending > 0
	if !broken && !d.mixed { // nothing speaks against what was paired so far
		d.acquit()
	}
	d.giveUp()
}

// acquit releases the replies that were held back.
func (d *dialogue) acquit() {
	for _, f := range d.held {
		d.facts = append(d.facts, f)
	}
	d.held, d.onTrial = nil, false
}

// giveUp drops the replies that were held back.
func (d *dialogue) giveUp() {
	for _, f := range d.held {
		d.skipped += 1 + f.Skipped
	}
	d.held = nil
}

// turn settles what was uncertain when the client speaks after the server.
func (d *dialogue) turn() {
	d.fresh = 0
	if d.onTrial && d.pending == 0 && !d.unseen && !d.tapes[1-d.client].lost {
		if d.proven++; d.proven >= proofs {
			d.acquit()
		}
	}
	if !d.unseen && !d.tapes[1-d.client].lost {
		return
	}
	open := int64(0)
	if d.reply != nil {
		open = 1
	}
	d.skip(d.pending - open)
	d.unseen = false
}

// skip gives up the replies to the n oldest commands.
func (d *dialogue) skip(n int64) {
	d.alone = d.alone && n == 0
	d.skipped += n
	d.pending -= n
}

// asks begins a command at a position, unless one is open.
func (d *dialogue) asks(at int64) *recording.Command {
	if d.command == nil {
		d.mixed = d.mixed || d.busy
		d.command = &recording.Command{Conn: d.id, Offset: at}
	}
	return d.command
}

// asked ends the open command at a position, 0 if that was not seen.
func (d *dialogue) asked(end int64) {
	f := d.command
	if f == nil {
		return
	}
	f.Length = max(0, end-f.Offset)
	d.facts = append(d.facts, f)
	d.command = nil
	d.pending++
	d.fresh++
}

// answers begins a reply at a position; false if no command is known that it answers.
func (d *dialogue) answers(at int64) bool {
	if d.pending > 0 {
		d.reply = &recording.Reply{Conn: d.id, Offset: at}
		return true
	}
	d.orphan = !d.unseen
	return false
}

// answered ends the open reply at a position, 0 if that was not seen.
func (d *dialogue) answered(end int64) {
	f := d.reply
	if f == nil {
		return
	}
	f.Length, f.Skipped = max(0, end-f.Offset), d.skipped
	d.reply, d.skipped = nil, 0
	d.pending--
	if !d.onTrial {
		d.facts = append(d.facts, f)
		return
	}
	if len(d.held) >= maxHeld {
		d.giveUp()
	}
	d.held = append(d.held, f)
}

// close returns what was still incomplete.
func (d *dialogue) close() []recording.Fact {
	d.facts = nil
	d.asked(0)
	d.answered(0)
	if !d.mixed {
		d.acquit()
	}
	return d.facts
}
