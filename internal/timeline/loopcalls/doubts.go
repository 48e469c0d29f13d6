package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// What is sent in the turn of an answer is of whose call that was, unless it had waited for just
// that: for the connection that came free, or for leave to run beside so many others. Whoever may
// have waited so is followed: how much requests ask for at once is counted where nobody can have, and
// where responses show that they stand in line for more, whose turn it is is told by that line.

// doubts follows who may wait.
type doubts struct {
	t        *timeline.Timeline
	peers    map[string]*peerCalls
	busy     []*peerCalls                           // to which calls were sent, or which answered, since the loop last slept
	owners   map[timeline.CallID]timeline.RequestID // of calls under way, as far as known when they were sent
	under    map[timeline.RequestID]int             // how many those are
	atOnce   map[string]int                         // by endpoint: the most
	sure     map[string]int                         // the same, in what was played since the last begin
	open     map[timeline.RequestID]bool            // that were read and not answered
	standing causality.Line[timeline.RequestID]     // that make no call and wait for no timer
	ports    map[int64]*portTurns                   // handles by which messages come that who stands first goes on with
	full     int                                    // to how many peers as many calls are under way as ever are
	crowded  int                                    // the same as the turn that runs began
	fires    recording.Time                         // when the first timer fires that was set in the turn that runs
	line     *toldLine
	share    *sharers
}

func newDoubts(t *timeline.Timeline) *doubts {
	d := &doubts{t: t, peers: map[string]*peerCalls{}, atOnce: map[string]int{}}
	d.line = newToldLine(d)
	return d
}

// begin forgets all but what is counted over a recording.
func (d *doubts) begin() {
	d.sure = map[string]int{}
	d.owners, d.under = map[timeline.CallID]timeline.RequestID{}, map[timeline.RequestID]int{}
	for _, p := range d.peers {
		p.now, p.peak = 0, 0
	}
	d.open, d.standing, d.full, d.crowded, d.fires = map[timeline.RequestID]bool{}, causality.Line[timeline.RequestID]{}, 0, 0, 0
}

// peerCalls are the calls to a peer that are under way.
type peerCalls struct {
	now  int
	peak int // the most since the loop last slept
	most int // ever
	busy bool
}

// peer are those to the peer of a call, which begins or ends.
func (d *doubts) peer(id timeline.CallID) *peerCalls {
	p := lists.Entry(d.peers, d.t.Calls[id].Peer)
	if !p.busy {
		p.busy, d.busy = true, append(d.busy, p)
	}
	return p
}

// room reports whether to none of the peers that were called since the loop last slept as many calls
// ran at once as ever do.
func (d *doubts) room() bool {
	for _, p := range d.busy {
		if p.peak >= p.most {
			return false
		}
	}
	return d.full == 0
}

// alone reports whether nobody but the request whose turn it is can wait for a place, and there was
// one for it.
func (d *doubts) alone() bool { return d.standing.Len() == 0 && d.crowded == 0 }

// sleeps notes that the loop does.
func (d *doubts) sleeps() {
	for _, p := range d.busy {
		p.peak, p.busy = p.now, false
	}
	d.busy = d.busy[:0]
}

// reads notes a request that was read.
func (d *doubts) reads(r timeline.RequestID) {
	d.open[r] = true
	d.line.read(r)
}

// turns notes that the turn of one request, None if it is not known whose, ends and that of
// another begins; fires is when the first timer fires that is set in that.
func (d *doubts) turns(from, to timeline.RequestID, at, fires recording.Time) {
	if d.open[from] && from != to && d.under[from] == 0 && d.fires <= at {
		d.standing.Rejoin(from, at)
	}
	d.standing.Leave(to)
	d.fires, d.crowded = fires, d.full
}

// sends notes a call, and whose it is as far as known.
func (d *doubts) sends(id timeline.CallID, r timeline.RequestID) {
	p := d.peer(id)
	if p.now++; p.now == p.most {
		d.full++
	}
	p.peak, p.most = max(p.peak, p.now), max(p.most, p.now)
	d.owners[id] = r
	if r == timeline.None {
		return
	}
	d.standing.Leave(r)
	endpoint := d.t.Requests[r].Endpoint
	d.under[r]++
	d.atOnce[endpoint], d.sure[endpoint] = max(d.atOnce[endpoint], d.under[r]), max(d.sure[endpoint], d.under[r])
}

// answered notes that a call was.
func (d *doubts) answered(id timeline.CallID) {
	r, known := d.owners[id]
	if !known {
		return
	}
	delete(d.owners, id)
	p := d.peer(id)
	if p.now == p.most {
		d.full--
	}
	p.now--
	if r == timeline.None {
		return
	}
	d.under[r]--
	d.line.answered(id, r)
}

// responds notes that a request was answered.
func (d *doubts) responds(r timeline.RequestID) {
	delete(d.open, r)
	d.standing.Leave(r)
	delete(d.under, r)
	d.line.over(r)
}
