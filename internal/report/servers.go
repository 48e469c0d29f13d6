package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Servers lists what requests waited for, and the results of replaying the recorded arrivals with changes, in the
// form of docs/contract.md.
type Servers struct {
	Version int      `json:"version"`
	Servers []Server `json:"servers"`
	WhatIf  []WhatIf `json:"what_if,omitempty"`
}

// Server is one server that requests waited for.
type Server struct {
	Name        string     `json:"name"` // under which it can be requested
	Servers     int        `json:"servers"`
	Busy        Decimal    `json:"busy"`       // share of the time
	Queue       Decimal    `json:"queue"`      // average number of waiting requests
	Burstiness  Decimal    `json:"burstiness"` // of arrivals: 1 as if by chance, higher if they come in bursts
	Waits       Decimal    `json:"waits"`      // share of all request time
	Recorded    Duration   `json:"mean_wait_ns"`
	Replayed    Duration   `json:"mean_wait_replayed_ns"`
	Fits        bool       `json:"fits"`         // the model reproduces the recording
	LoadUnknown bool       `json:"load_unknown"` // only those turns are known that something waited for
	Work        []FuncWork `json:"work,omitempty"`
}

// FuncWork is a function in which a server works.
type FuncWork struct {
	Function string  `json:"function"`
	Place    string  `json:"place"`
	Share    Decimal `json:"share"`
}

// WhatIf is a replay of the recorded arrivals at a server, with one change. It has the latencies of the requests as
// recorded and with the change; absent ones were not replayed.
type WhatIf struct {
	Server string    `json:"server"`
	Change string    `json:"change"`
	Words  string    `json:"words"`
	Mean   *Replayed `json:"mean,omitempty"`
	P50    *Replayed `json:"p50,omitempty"`
	P99    *Replayed `json:"p99,omitempty"`
}

// Replayed is a latency as recorded, and with a change. The second is the first scaled by the factor by which the
// replay changes.
type Replayed struct {
	Was Duration `json:"was_ns"`
	Is  Duration `json:"is_ns"`
}

// BuildServers makes the view.
func BuildServers(servers []diagnosis.Server, plays []diagnosis.WhatIf) *Servers {
	out := &Servers{Version: Version, Servers: []Server{}, WhatIf: whatIfs(plays)}
	for _, s := range servers {
		v := Server{Name: s.Name, Servers: s.Servers, Busy: Decimal(s.Busy), Queue: Decimal(s.Queue * 1000), Burstiness: Decimal(s.Burstiness * 1000),
			Waits: Decimal(s.Waits), Recorded: s.Recorded, Replayed: s.Replayed, Fits: s.Fits, LoadUnknown: s.Turns}
		for _, w := range s.Work {
			v.Work = append(v.Work, FuncWork{w.Function, w.Place, Decimal(w.Share)})
		}
		out.Servers = append(out.Servers, v)
	}
	return out
}

func whatIfs(list []diagnosis.WhatIf) (out []WhatIf) {
	pair := func(r diagnosis.Replayed) *Replayed {
		if r == (diagnosis.Replayed{}) {
			return nil
		}
		return &Replayed{r.Was, r.Is}
	}
	for _, w := range list {
		out = append(out, WhatIf{w.Server, w.Change, w.Words, pair(w.Mean), pair(w.P50), pair(w.P99)})
	}
	return out
}

// ServersJSON writes the view.
func ServersJSON(w io.Writer, s *Servers) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("write the replay as JSON: %w", err)
	}
	return nil
}

// ServersText writes the replays, or the servers if no replay was requested.
func ServersText(w io.Writer, s *Servers, o TextOptions) error {
	p := newPage(o)
	if len(s.WhatIf) == 0 {
		listServers(p, s)
		return p.flush(w)
	}
	p.raw(p.paint(bold, pad("The recorded arrivals, replayed", whatIfLabel)+pad("mean", whatIfCell)+pad("p50", whatIfCell)+"p99"))
	for i := range s.WhatIf {
		x := &s.WhatIf[i]
		if i == 0 || s.WhatIf[i-1].Server != x.Server {
			p.line(plain, "%s", x.Server+s.busyOf(x.Server))
		}
		label := x.Change
		if x.Words != "" {
			label = x.Words
		}
		p.raw("  " + pad(clip(label, whatIfLabel-3), whatIfLabel-2) + pad(x.Mean.cell(), whatIfCell) + pad(x.P50.cell(), whatIfCell) + x.P99.cell())
	}
	p.wrap(dim, "  ", "Latency of the requests as recorded -> with the change, in the proportion in which the replay changes. Requests come when they came, whatever happens to those before them.", 3)
	return p.flush(w)
}

// Columns of the table of replays.
const (
	whatIfLabel = 46
	whatIfCell  = 20
)

func (r *Replayed) cell() string {
	if r == nil {
		return ""
	}
	return diagnosis.Human(r.Was) + " -> " + diagnosis.Human(r.Is)
}

func (s *Servers) busyOf(name string) string {
	for i := range s.Servers {
		if x := &s.Servers[i]; x.Name == name {
			return ", busy " + percent(x.Busy) + " of the time; requests wait for it " + diagnosis.Human(x.Recorded) + " on average (" + diagnosis.Human(x.Replayed) + " by the model)"
		}
	}
	return ""
}

func listServers(p *page, s *Servers) {
	if len(s.Servers) == 0 {
		p.line(plain, "No request waited for a server: a lock, an interpreter, an event loop, workers, a pool or a processor.")
		return
	}
	p.line(bold, "Requests waited for")
	for i := range s.Servers {
		x := &s.Servers[i]
		fit := "reproduced by the model (" + diagnosis.Human(x.Replayed) + ")"
		if !x.Fits {
			fit = "not reproduced by the model (" + diagnosis.Human(x.Replayed) + "): nothing can be asked of it"
		}
		text := percent(x.Waits) + " of all request time, " + diagnosis.Human(x.Recorded) + " on average, " + fit + "; busy " + percent(x.Busy) + " of the time"
		for k, f := range x.Work {
			if k == 0 {
				text += ", in "
			} else {
				text += ", "
			}
			text += f.Function + " " + percent(f.Share)
		}
		p.wrap(plain, "  "+x.Name+"  ", text, 3)
	}
}

// whatIfWords says what the first replay of a finding's server predicts, to follow its fix: "; with half of its work,
// p99 would be 15.1 ms". It says nothing in two cases. With few requests, some that coincide by chance may wait longer
// in a replay with less work. And a replay of another part of the wait than the promised one may leave less time than
// the promise does.
func whatIfWords(list []WhatIf, promised Duration) string {
	if len(list) == 0 || list[0].P99 == nil || list[0].P99.Is >= list[0].P99.Was || list[0].P99.Is < promised {
		return ""
	}
	return "; with " + list[0].Words + ", p99 would be " + diagnosis.Human(list[0].P99.Is)
}
