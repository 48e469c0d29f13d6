package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func seen(tl *timeline.Timeline) Seen {
	s := Seen{Calls: len(tl.Calls)}
	s.Processes, s.Silent = servers(tl)
	names := [...]string{"on which nothing was recognised", "HTTP/1.1", "HTTP/2", "TLS", "of another protocol", "FastCGI"}
	var in [len(names)]int
	for i := range tl.Conns {
		c := &tl.Conns[i]
		if c.Side == recording.Outbound {
			s.Outbound++
		} else {
			p := min(max(c.Protocol, 0), recording.ProtocolOther)
			if c.Protocol == recording.ProtocolFastCGI {
				p++ // count everything that is served, not only HTTP
			}
			in[p]++
		}
	}
	for p, n := range in {
		if n > 0 {
			s.Protocols = append(s.Protocols, plural(n, "connection")+" "+names[p])
		}
	}
	for _, m := range tl.Missing {
		s.Missing = append(s.Missing, m.What+": "+m.Why+times(m.Count))
		s.goAway = s.goAway || m.Timed == 1 && (m.What == "go-waits" || m.What == "go-locks")
	}
	for i := range tl.Calls {
		if tl.Calls[i].Request == timeline.None {
			s.NoRequest++
		}
	}
	return s
}

// servers names the processes that served requests, the busiest first, and counts the others; if none served any, it
// names all.
func servers(tl *timeline.Timeline) (names []string, silent int) {
	served := map[recording.ProcessID]int{}
	for i := range tl.Requests {
		served[tl.Requests[i].Process]++
	}
	list := slices.Clone(tl.Processes)
	slices.SortStableFunc(list, func(a, b timeline.Process) int { return cmp.Compare(served[b.ID], served[a.ID]) })
	for i := range list {
		if len(served) > 0 && served[list[i].ID] == 0 {
			return names, len(list) - i
		}
		names = append(names, fmt.Sprintf("%s (pid %d%s)", list[i].Comm, list[i].PID, which(list, &list[i])))
	}
	return names, 0
}

// which distinguishes a process from others of its name: by its version, or, if the others are other builds, by the
// beginning of its build id.
func which(all []timeline.Process, p *timeline.Process) string {
	if p.Version != "" {
		return ", version " + p.Version
	}
	other := func(q timeline.Process) bool { return q.Comm == p.Comm && q.Build != p.Build && q.Build != "" }
	if p.Build == "" || !slices.ContainsFunc(all, other) {
		return ""
	}
	return ", build " + p.Build[:min(len(p.Build), 12)]
}

func times(n int64) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(" (%s times)", thousands(n))
}
