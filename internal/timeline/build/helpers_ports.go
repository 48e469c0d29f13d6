package build

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// calledBack lists, by loop, what the facts say about helpers.
func calledBack(t *timeline.Timeline, f *facts.Facts) map[timeline.StrandID][]callback {
	back, vain, mails := map[timeline.StrandID][]callback{}, loops.InVain(f.Boundaries), map[workerPort]*portMail{}
	for i, b := range f.Boundaries {
		s := f.Strand(b.Thread)
		if s == timeline.None || !t.Strands[s].Loop {
			continue
		}
		m := lists.Entry(mails, workerPort{s, b.Port})
		switch b.What {
		case "done", "messages", "message":
			back[s] = append(back[s], callback{At: b.At, Port: b.Port, Asked: recording.NoTime, Over: vain[i]})
			if b.What != "done" {
				m.comes(b.At, b.What == "messages", vain[i])
			}
		case "posted":
			m.posts(b.At)
		case "takes":
			m.took = b.At
		}
	}
	for w, m := range mails {
		back[w.loop] = m.answer(back[w.loop], w.port)
	}
	for _, list := range back {
		slices.SortStableFunc(list, func(a, b callback) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Port, b.Port)) // ports are in no order
		})
	}
	return back
}

// workerPort is a port through which a loop and a worker exchange messages.
type workerPort struct {
	loop timeline.StrandID
	port int64
}

// portMail is what was sent through a port.
type portMail struct {
	posted []recording.Time
	came   []recording.Time // when the messages that answer them came, in that order
	took   recording.Time   // when the program, since its last post, last took a message by itself; NoTime: not
	early  recording.Time   // took at the time of the last post, if a post was unanswered then
}

// posts notes that a message is sent.
func (m *portMail) posts(at recording.Time) {
	if len(m.came) < len(m.posted) {
		m.early = m.took
	}
	m.posted, m.took = append(m.posted, at), recording.NoTime
}

// comes notes that the port looks for its next message. If a port begins to report a message and there is none, the
// program had taken that message by itself.
func (m *portMail) comes(at recording.Time, begins, vain bool) {
	took := cmp.Or(m.early, m.took)
	switch {
	case vain && !(begins && took != recording.NoTime) || len(m.came) == len(m.posted):
		return // there is none, or it was not asked for since
	case vain:
		at = took
	}
	m.came, m.early = append(m.came, at), recording.NoTime
	if at == m.took {
		m.took = recording.NoTime
	}
}

// answer adds to the callbacks which posted message each of a worker's messages answers. This requires that the worker
// was never sent a message before it had answered the previous one; otherwise the callbacks stay unchanged.
func (m *portMail) answer(back []callback, port int64) []callback {
	for k := 1; k < len(m.posted); k++ {
		if k > len(m.came) || m.came[k-1] > m.posted[k] {
			return back
		}
	}
	asked := map[recording.Time]recording.Time{}
	for k, at := range m.came {
		asked[at] = m.posted[k]
	}
	for i := range back {
		if at, known := asked[back[i].At]; known && back[i].Port == port {
			back[i].Asked = at
			delete(asked, back[i].At)
		}
	}
	for at, since := range asked { // the program took these by itself
		back = append(back, callback{At: at, Port: port, Asked: since, Over: false})
	}
	return back
}

// findPorts finds which worker sends its messages through which port. It is the thread that mostly woke the loop when
// the first callback after that was a message of the port.
func (h *helpers) findPorts(back []callback) {
	type woken struct {
		by   timeline.StrandID
		port int64
	}
	woke, all := map[woken]int{}, map[int64]int{}
	h.eachWake(back, func(iv *timeline.Interval, back []callback, _ recording.Time) {
		if by, port := h.wokenBy(iv.Off), back[0].Port; by != timeline.None && port != 0 && !back[0].Over {
			woke[woken{by, port}]++
			all[port]++
		}
	})
	h.ports = helperPorts{}
	for w, n := range woke {
		if n >= fewWakes && 2*n > all[w.port] {
			h.ports[w.port] = w.by
		}
	}
}

// fewWakes is how often a worker must have woken the loop with a message for its port to be known.
const fewWakes = 3

// helperPorts are the workers that send messages, by their ports.
type helperPorts map[int64]timeline.StrandID

func (p helperPorts) of(port int64) timeline.StrandID {
	if s, ok := p[port]; ok {
		return s
	}
	return timeline.None
}

// didTask notes what a worker did from when it was sent a message until it had finished. Its calls meanwhile belong to
// the request that its answer leads to.
func (h *helpers) didTask(worker timeline.StrandID, task timeline.Stint, u *loops.Turn) {
	h.free[worker] = task.To
	if u == nil || task.From < h.t.Requests[u.Request].FirstRead {
		return
	}
	task.From = h.turnedTo(worker, task.From)
	if task.From >= task.To {
		return
	}
	h.add(u.Request, timeline.Part{Strand: worker, From: task.From, To: task.To})
	for _, id := range h.calls[worker] {
		if c := &h.t.Calls[id]; c.Request == timeline.None && c.SendFrom >= task.From && c.End <= task.To {
			h.t.Assign(c, u.Request, timeline.WhyHandOffEnd)
		}
	}
}

// callback is when a callback ran for something that a helper had finished, or when the last one of a kind had run.
type callback struct {
	At    recording.Time
	Port  int64          // of a message; 0: no message
	Asked recording.Time // when the message that this answers was sent, if the worker is sent one thing at a time; else NoTime
	Over  bool           // no further callback of its kind
}
