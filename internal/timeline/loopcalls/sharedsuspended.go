package loopcalls

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// suspended are who could go on and did nothing: they wait for what no fact shows.
type suspended struct {
	away      map[loops.Owner]progress
	strangers []stranger // those of whom it is not known which request they are
	now       recording.Time
	allEnd    recording.Time // of the last to end of the requests that were read so far
}

// stranger is over when all requests are that it may be.
type stranger struct {
	who  loops.Owner
	ends recording.Time
}

// leave ends the chance of those who were not seen to do anything: they wait for something else, unless
// what they asked for may be held back.
func (w *sharing) leave() {
	if w.holds && w.beside > 0 && len(w.ready) < mostReady {
		return
	}
	for i := range w.ready {
		if a := &w.ready[i]; a.spent {
			w.nothingMore(a)
		} else {
			w.goesAway(i)
		}
	}
	w.ready = w.ready[:0]
}

// goesAway notes that one of those who are ready sent nothing.
func (w *sharing) goesAway(place int) {
	a := &w.ready[place]
	if !a.told {
		w.saw([]int{place}, 0, true)
	}
	if a.idle() && a.nap != nil {
		a.nap.asleep = append(a.nap.asleep, *a)
	}
	if a.who == loops.Nobody || !a.idle() {
		return
	}
	if r, ok := a.who.Request(); ok && w.answeredBefore(r, w.now) {
		return
	}
	if _, ok := a.who.Call(); ok {
		w.strange(a.who)
	}
	w.away[a.who] = a.habit
}

// strange notes that somebody is away of whom it is not known which request that is.
func (w *sharing) strange(who loops.Owner) {
	w.strangers = append(w.strangers, stranger{who, w.allEnd})
}

// forget forgets the strangers that are over.
func (w *sharing) forget() {
	for len(w.strangers) > 0 && (w.strangers[0].ends < w.now || len(w.strangers) > mostAway) {
		delete(w.away, w.strangers[0].who)
		w.strangers = w.strangers[1:]
	}
}

// anyAway reports whether anybody may be.
func (w *sharing) anyAway() bool {
	w.forget()
	return len(w.away) > 0
}

// mostAway is of how many who are away it is kept that they may have sent a call.
const mostAway = 64

// unseen gives calls to those who went on after what no fact shows, as a timer: to whom ids
// give them, or who alone is away.
func (w *sharing) unseen(calls []timeline.CallID) {
	w.forget()
	if len(calls) == 0 {
		return
	}
	list := []loops.Owner{loops.Nobody} // anyone
	if len(w.away) <= mostAway {
		list = slices.Collect(maps.Keys(w.away))
	}
	for _, id := range calls {
		who := loops.Nobody
		if r := w.t.Calls[id].Request; r != timeline.None {
			who = loops.OfRequest(r)
			w.told[id] = true
		} else if len(list) == 1 {
			who = list[0]
		}
		w.gets(id, who)
		if who == loops.Nobody {
			w.either[id] = list
			continue
		}
		h := w.returns(who)
		h.steps = min(h.steps+1, 100)
		w.did[who] = h
	}
}

// returns ends that somebody is away, if so, and says where that is in what it does.
func (w *sharing) returns(who loops.Owner) progress {
	h := w.did[who]
	if at, away := w.away[who]; away {
		h = at
		delete(w.away, who)
	}
	if r, ok := who.Request(); ok {
		h.endpoint = w.t.Requests[r].Endpoint
	}
	return h
}
