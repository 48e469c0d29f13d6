package protocol

import "github.com/getdwell/dwell/recording"

const (
	// proofs is how often the client must speak while no reply appears to be outstanding. Only then do we believe
	// that the count of its commands, which was started anew, is right.
	proofs = 4
	// maxHeld bounds the replies that are held back until then.
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

// dialogue follows the commands and replies of one connection. Its client may send several commands before it reads.
// The part of a message that is not captured may hide how many commands or replies follow it. Then a client that
// speaks after the server is assumed to have read all replies, as is true of a client that waits for each reply. If
// the client was seen to send commands while others were outstanding, this has to be proven first: replies are held
// back meanwhile, and dropped if a reply comes that answers no command.
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
	fresh   int64 // the part of them sent since the server last spoke
	unseen  bool  // more commands may have followed them
	skipped int64 // commands whose replies could not be distinguished, not yet reported
	mixed   bool  // the client sends commands while others are outstanding
	busy    bool  // commands were outstanding when this chunk came
	orphan  bool  // a reply came that answers no command
	joined  bool  // commands may have been outstanding when the first bytes were seen
	synced  bool  // replies have been followed before
	alone   bool  // the bytes that were not seen belong to the only outstanding reply
	onTrial bool  // it is not proven that replies are paired with the right commands
	proven  int   // how often the pairing seemed right
	held    []*recording.Reply
	deaf    bool // replies are no longer distinguished
	ended   bool // the connection no longer speaks this protocol
	secured bool // it changed to TLS
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
	if !broken && !d.mixed { // nothing contradicts the pairs so far
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

// turn resolves what was uncertain, when the client speaks after the server.
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

// asked ends the open command at a position, or 0 if its end was not seen.
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

// answers begins a reply at a position. It returns false if no known command is unanswered.
func (d *dialogue) answers(at int64) bool {
	if d.pending > 0 {
		d.reply = &recording.Reply{Conn: d.id, Offset: at}
		return true
	}
	d.orphan = !d.unseen
	return false
}

// answered ends the open reply at a position, or 0 if its end was not seen.
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
