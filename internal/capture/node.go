//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"

	"github.com/getdwell/dwell/recording"
)

// nodeProbe reports which callback resolved a promise. Code that awaits the promise continues without an id, so its
// request is known only from that callback. It also reports callbacks of thread pool work, and messages to and from
// other threads.
func nodeProbe() budgetedProbe {
	return budgetedProbe{what: "Node", group: "node-promises", name: promiseResolved, spec: loadNode, loops: hitInNode}
}

// The programs of node.bpf.c.
const (
	promiseResolved = "promise_resolved"
	collected       = "collected"
	fileDone        = "file_done"
	workDone        = "work_done"
	portPosts       = "port_posts"
	portWakes       = "port_wakes"
	portTakes       = "port_takes"
)

// hitInNode was measured: on a machine where a trap took 0.75 us in a loop, a service that resolved 13 promises per
// request took 2.1 us more for each.
const hitInNode = 3

// nodeFound is where a Node process resolves promises, or why that is not known.
type nodeFound struct {
	pid     int // 0: not a Node process whose ids are known
	site    probeSite
	places  map[string][]uint64 // offsets by program
	missing []recording.Missing
}

// findPromises finds where a Node process resolves promises, and prepares w to report it.
func (s *Session) findPromises(pid int, w *probesWatch) nodeFound {
	found, err := s.files.NodeResolves(pid)
	if err != nil {
		if gone(err) {
			return nodeFound{}
		}
		return nodeFound{pid: pid, missing: []recording.Missing{missingPromises(err.Error())}}
	}
	w.Resolves, w.Credit, w.Credited = 1, uint64(budgetSaved), uint64(clock())
	w.Works, w.WorkCredit, w.WorkCredited = 1, uint64(budgetSaved), uint64(clock())
	v8 := found.Types
	w.V8.Promise, w.V8.Async, w.V8.Generator = v8.Promise, v8.Async, v8.Generator
	w.V8.Capability, w.V8.Oddball, w.V8.Context = v8.Capability, v8.Oddball, v8.Context
	places := map[string][]uint64{promiseResolved: found.Resolves}
	if found.Moved != 0 {
		places[collected] = []uint64{found.Moved}
	}
	if len(found.FileDone) > 0 {
		places[fileDone] = found.FileDone
	}
	if found.WorkDone != 0 {
		places[workDone] = []uint64{found.WorkDone}
	}
	if p := found.Ports; p.Posts != 0 && p.Wakes != 0 && p.Takes != 0 { // all three are needed
		places[portPosts], places[portWakes], places[portTakes] = []uint64{p.Posts}, []uint64{p.Wakes}, []uint64{p.Takes}
	}
	return nodeFound{pid: pid, site: probeSite{pid: pid, file: found.File}, places: places}
}

// hookNode starts to report which callbacks resolve promises in a process. It returns what prevents that.
func (s *Session) hookNode(f *nodeFound) []recording.Missing {
	if f.pid == 0 || f.missing != nil {
		return f.missing
	}
	if err := s.node.hook(s, f.site, f.places); err != nil {
		return []recording.Missing{missingPromises(err.Error())}
	}
	return nil
}

// hookNodeLater calls hookNode in the background, because the kernel takes long.
func (s *Session) hookNodeLater(f nodeFound) {
	if f.pid != 0 {
		s.workers.Go(func() { s.node.note(s.hookNode(&f)...) })
	}
}

// followNode removes the probes of processes that have ended, or for which the probes cost too much.
func (s *Session) followNode(ended []uint32) {
	d := s.decoder
	for _, pid := range d.node.promisesSpent {
		d.note([]recording.Missing{missingPromises(fmt.Sprintf(
			"which callback resolved a promise was seen at first only: a process resolves so many that seeing it would have cost it more than %d %% of a CPU", budgetPerMille/10))})
		s.workers.Go(func() { s.node.drop(int(pid), promiseResolved, collected) })
	}
	for _, pid := range d.node.workSpent {
		d.note([]recording.Missing{missingFact("thread-pool", fmt.Sprintf(
			"which callback waited for work of Node's thread pool, or for a worker thread, was seen at first only: a process does so much there, as with files, that seeing it would have cost it more than %d %% of a CPU", budgetPerMille/10))})
		s.workers.Go(func() { s.node.drop(int(pid), fileDone, workDone, portPosts, portWakes, portTakes) })
	}
	for _, pid := range ended {
		s.workers.Go(func() { s.node.drop(int(pid)) })
	}
	d.noteOnce(s.node.noted())
	d.node.promisesSpent, d.node.workSpent = d.node.promisesSpent[:0], d.node.workSpent[:0]
}

// missingPromises notes what is not known about the promises of Node.
func missingPromises(why string) recording.Missing { return missingFact("promises", why) }
