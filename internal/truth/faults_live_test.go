package truth

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/names"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// fault is a service with a fault that users reported of libraries.
type fault struct {
	scenario
	id    string   // of what must be said first
	says  []string // that it must say
	wrong []string // findings that others would give
}

// faults need what the service calls, at a port; some of them resolve names.
func faults(peer int, resolver string) []fault {
	calls := fmt.Sprint("PEER=", peer)
	own := func(problem string) scenario {
		return scenario{
			name: problem, runtime: runtimeKind{"python", func(string) []string { return []string{"python3", "services/faults.py"} }},
			env: []string{"PROBLEM=" + problem, calls}, rate: 30,
		}
	}
	workers := own("workers")
	workers.close = true
	shared := scenario{name: "shared connection", env: []string{calls}, rate: 30, runtime: runtimeKind{"node", func(string) []string { return []string{"node", "services/shared.js"} }}}
	templates := scenario{name: "templates", rate: 40, alone: true, runtime: runtimeKind{"go", func(bin string) []string { return []string{bin + "/templates"} }}}
	lookups := scenario{name: "look-ups", rate: 20, runtime: runtimeKind{"java", func(string) []string {
		return names.Within(resolver, "java -Dsun.net.httpserver.nodelay=true -Xmx256m services/Lookups.java")
	}}}
	left := scenario{name: "left to threads", rate: 30, runtime: runtimeKind{"java", func(string) []string { return []string{"java", "-Xmx256m", "services/LoopWork.java"} }}}
	others := []string{"pool-exhausted", "lock-convoy", "refresh-under-lock", "sleep-retry", "event-loop-blocked", "interpreter-lock"}
	helper := func(name, in string, args ...string) fault {
		kind := runtimeKind{name, func(bin string) []string {
			return strings.Fields(strings.ReplaceAll(strings.Join(args, " "), "BIN", bin))
		}}
		return fault{scenario{name: "helper", rate: 15, runtime: kind, env: []string{"PROBLEM=helper"}}, "child-process", []string{"Requests start programs", in}, others}
	}
	return []fault{
		{own("nagle"), "delayed-ack", []string{"in our send buffer: Nagle", fmt.Sprint("127.0.0.1:", peer)}, []string{"slow-peer", "connection-churn"}},
		{shared, "head-of-line", []string{"behind BRPOP", fmt.Sprint("127.0.0.1:", peer)}, []string{"slow-peer", "event-loop-blocked", "sleep-retry"}},
		{workers, "cold-start", []string{"no process runs to accept them", "after a median of 40 requests each"}, []string{"load", "slow-peer", "gc-pause", "disk"}},
		{templates, "cpu-bound", []string{"of the CPU time is in main.(*shop).load", "about as long in each request"}, []string{"disk", "gc-pause", "lock-convoy"}},
		{lookups, "slow-dns", []string{"look-ups of names that are never connected to", "URL.hashCode"}, []string{"slow-peer", "connection-churn", "lock-convoy", "sleep-retry"}},
		{own("handed"), "sleep-retry", []string{"mostly in faults.nap"}, []string{"pool-exhausted", "event-loop-blocked", "slow-peer"}},
		{own("begun"), "sleep-retry", []string{"mostly in faults.nap"}, []string{"pool-exhausted", "event-loop-blocked", "slow-peer"}},
		{left, "sleep-retry", []string{"LoopWork.nap"}, []string{"pool-exhausted", "event-loop-blocked", "slow-peer"}},
		helper("python", "faults.thumbnail", "python3", "services/faults.py"),
		helper("ruby", "thumbnail", "ruby", "services/helper.rb"),
		helper("node", "thumbnail", "node", "services/helper.js"),
		helper("java", "Helper.", "java", "-Dsun.net.httpserver.nodelay=true", "-Xmx256m", "services/Helper.java"),
		helper("go", "main.thumbnail", "BIN/helper"),
	}
}

// TestFaultsOfLibraries plays services whose faults other tools take for something else, and
// each without the fault.
func TestFaultsOfLibraries(t *testing.T) {
	const resolver = "127.0.0.92"
	config := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(config, []byte("nameserver "+resolver+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server, err := names.Serve(resolver, func() time.Duration { return 12 * time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for i, f := range faults(0, config) {
		t.Run(f.runtime.name+"/"+f.name, func(t *testing.T) {
			leaveOut(t)
			try := f.trying(t)
			peer, _ := freePorts(t)
			f := faults(peer, config)[i]
			try(func() []string { return f.problems(t, peer) })
			f.env = append(slices.Clone(f.env), "FIXED=1")
			try(func() []string { return f.fixed(t, peer) })
		})
	}
}

// why plays the service, and returns what is said of it; that other work on the machine took
// the processors is left out.
func (f fault) why(t *testing.T, peer int) (findings, leads []found) {
	p, err := proc.Start(t.Context(), proc.Options{
		Args: []string{"python3", "services/faults.py"}, Ready: "ready",
		Env: []string{"PROBLEM=peer", fmt.Sprint("PORT=", peer)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	s := newStage(t, f.scenario)
	s.send(f.scenario, time.Second) // warm-up
	file, recorder := s.record()
	sum := s.send(f.scenario, judgedFor).Summary()
	s.stop(recorder)
	s.service.Stop()
	t.Logf("client: %.0f requests/s, p50 %.2f ms, p99 %.2f ms", sum.Rate, ms(sum.P50), ms(sum.P99))
	others := func(f found) bool { return f.ID == "run-queue" || f.ID == "dwell-itself" }
	findings, leads = s.why(file)
	return slices.DeleteFunc(findings, others), slices.DeleteFunc(leads, others)
}

// problems are what is not said of the fault, and what is said wrongly.
func (f fault) problems(t *testing.T, peer int) (all []string) {
	findings, leads := f.why(t, peer)
	// What is computed for each request may be what it is for: a lead.
	if f.id == "cpu-bound" {
		findings = append(findings, leads...)
	}
	if len(findings) == 0 || findings[0].ID != f.id {
		return []string{fmt.Sprintf("want %s first: %+v %+v", f.id, findings, leads)}
	}
	t.Log(findings[0].Title)
	for _, want := range f.says {
		if !strings.Contains(findings[0].Title, want) {
			all = append(all, fmt.Sprintf("does not say %q: %s", want, findings[0].Title))
		}
	}
	for _, one := range findings {
		if slices.Contains(f.wrong, one.ID) {
			all = append(all, "says besides: "+cmp.Or(one.Title, one.ID))
		}
	}
	return all
}

// fixed are what is said of the service without the fault, of which nothing is true.
func (f fault) fixed(t *testing.T, peer int) (all []string) {
	findings, leads := f.why(t, peer)
	for _, one := range findings {
		all = append(all, "finding on the fixed service: "+one.Title)
	}
	for _, one := range leads {
		if one.ID == f.id && !slices.ContainsFunc(f.says, func(want string) bool { return !strings.Contains(one.Title, want) }) {
			all = append(all, "says of the fixed service: "+one.Title)
		}
	}
	return all
}
