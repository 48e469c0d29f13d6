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

// calledBack lists by loop what the facts tell of helpers.
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
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Port, b.Port)) // ports come in no order
		})
	}
	return back
}

// workerPort is a port by which a loop sends a worker messages, and gets them.
type workerPort struct {
	loop timeline.StrandID
	port int64
}

// portMail is what went by a port.
type portMail struct {
	posted []recording.Time
	came   []recording.Time // of the messages that answer them, in that order
	took   recording.Time   // when the program last asked for one by itself, since it sent one
	early  recording.Time   // and when it did before that, while one was not answered
}

// posts notes that a message is sent.
func (m *portMail) posts(at recording.Time) {
	if len(m.came) < len(m.posted) {
		m.early = m.took
	}
	m.posted, m.took = append(m.posted, at), recording.NoTime
}

// comes notes that the next message of a port is looked for. Where there is none as a port begins to tell
// of one, the program had taken that by itself.
func (m *portMail) comes(at recording.Time, begins, vain bool) {
	took := cmp.Or(m.early, m.took)
	switch {
	case vain && !(begins && took != recording.NoTime) || len(m.came) == len(m.posted):
		return // there is none, or it was asked for before
	case vain:
		at = took
	}
	m.came, m.early = append(m.came, at), recording.NoTime
	if at == m.took {
		m.took = recording.NoTime
	}
}

// answer adds to what calls back what each message of a worker answers that is sent nothing before it has
// answered what came before.
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

// findPorts finds by which port which worker sends its messages: it is who mostly woke the loop where the first
// that called back then was one of these.
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

// didTask notes what a worker did from when it was sent something until it had done that, and that the calls which
// it made meanwhile are of the request that its answer leads to.
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

// callback is when something called back that a helper had done, or the last of a kind had.
type callback struct {
	At    recording.Time
	Port  int64          // of a message; 0: of none
	Asked recording.Time // when it was sent what that answers, of a worker that is sent one thing at a time; else NoTime
	Over  bool           // nothing of its kind calls back any longer
}
