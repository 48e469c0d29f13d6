package report

import (
	"cmp"
	"slices"
	"strings"
)

// For how many functions of an endpoint a page contains what dwell show --under prints, and how much of it.
const (
	underFunctions = 200
	underRequests  = 3
	underEntries   = 12        // of a request
	underSightings = 4_000_000 // sightings examined per endpoint, times functions: bounds time and memory
	underBytes     = 640 << 10 // approximate, in JSON
)

// webUnder describes the functions of flame graphs beneath which most time was spent, for a page that cannot ask
// later. The larger the recording, the fewer functions it describes.
func webUnder(u *underer, r *Report, graphs []*Flames) []*Under {
	out, size := []*Under{}, 0
	for _, g := range graphs {
		at := slices.IndexFunc(r.Endpoints, func(e Endpoint) bool { return e.Name == g.Endpoint })
		if at < 0 || size > underBytes {
			break
		}
		list := u.most(g)
		for i, e := range u.endpoint(&r.Endpoints[at], list) {
			if e.none() || size > underBytes {
				continue
			}
			one := &Under{Version: Version, Query: list[i].query, Functions: list[i].names, Endpoints: []UnderEndpoint{e}, Requests: u.requests(list[i])}
			size += 200 + e.All.bytes() + e.Ordinary.bytes() + e.Slow.bytes()
			for k := range one.Requests {
				q := &one.Requests[k]
				q.Entries = q.Entries[:min(len(q.Entries), underEntries)]
				size += q.bytes() + 140*len(q.Entries)
			}
			out = append(out, one)
		}
	}
	return out
}

// bytes is the approximate length of the set in JSON.
func (s *UnderSet) bytes() int { return 400 + 130*len(s.Causes) + 100*len(s.Calls) }

// most returns the functions in which a flame graph has most time.
func (u *underer) most(g *Flames) (out []*function) {
	sums := map[string]Duration{}
	seen := g.Requests + g.OnCPU.Samples
	for _, row := range g.Waiting.Rows {
		seen += row.Stacks
	}
	for _, rows := range [][]*FlameRow{g.OnCPU.Rows, g.Waiting.Rows} {
		timesByName(rows, map[string]bool{}, sums)
	}
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b)) })
	for _, name := range names[:min(len(names), underFunctions, max(1, underSightings/max(1, seen)))] {
		if f := u.function(name, underRequests); len(f.names) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// timesByName adds up rows by name; a row beneath one of the same name counts only once.
func timesByName(rows []*FlameRow, above map[string]bool, sums map[string]Duration) {
	for _, r := range rows {
		if strings.HasPrefix(r.Name, "(") && r.Kind == "none" {
			continue
		}
		first := !above[r.Name]
		if first {
			sums[r.Name] += r.Total
			above[r.Name] = true
		}
		timesByName(r.Rows, above, sums)
		if first {
			delete(above, r.Name)
		}
	}
}
