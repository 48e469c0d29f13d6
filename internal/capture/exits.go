//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf/btf"

	"github.com/getdwell/dwell/recording"
)

// exitGroups are socketGroups implemented by the programs of exits.bpf.c.
func exitGroups() []group {
	const atExit = "those of io_uring: they are told at the end of system calls, which costs every process of the machine, watched or not, a little at each of its calls"
	by := map[string]group{
		"reads":  {ways: one("received_at_exit"), less: atExit},
		"writes": {ways: one("sent_at_exit"), less: atExit},
		"arrivals": {
			ways: one("segment_came"), hooks: []string{recording.HookArrivals},
			less: "when data reaches sockets that are not of TCP, how many connections wait to be accepted, and answers whose end was kept back",
		},
		"connections": {ways: one("socket_state")}, "retransmissions": {ways: one("retransmitted")},
		"open-connections": {ways: one("adopt_flows")}, "merged-transfers": {ways: one("flush_tcp", "flush_unix")},
		"unix-ends": {ways: one("list_unix_here")},
	}
	groups := socketGroups()
	for i := range groups {
		g := &groups[i]
		g.ways, g.less = by[g.name].ways, by[g.name].less
		if hooks := by[g.name].hooks; hooks != nil {
			g.hooks = hooks
		}
	}
	return groups
}

// loadSockets loads the programs that observe sockets. If the kernel refuses any needed one of the recorder's
// programs, it loads those at the end of system calls instead.
func (s *Session) loadSockets() {
	groups := s.loadAll(s.recorder, socketGroups())
	if !allNeeded(groups) {
		groups = s.atExits(groups)
	}
	for _, l := range groups {
		s.keepGroup(l)
	}
}

func (s *Session) loadAll(o *object, groups []group) (all []*loaded) {
	s.loading.with(func(types *btf.Cache) {
		for _, g := range groups {
			all = append(all, o.load(g, types))
		}
	})
	return all
}

func allNeeded(groups []*loaded) bool {
	return !slices.ContainsFunc(groups, func(l *loaded) bool { return l.needed && !l.ok() })
}

// atExits replaces the recorder's groups with those of the other object, and reports the refusals of both.
func (s *Session) atExits(refused []*loaded) []*loaded {
	spec, err := loadExits()
	if err == nil {
		s.sizeRing(spec)
		s.exits, err = s.newObject(spec)
	}
	if err != nil {
		for _, l := range refused {
			l.refusals = append(l.refusals, refusal(l.name, "", fmt.Errorf("at the end of system calls: %w", err)))
		}
		return refused
	}
	s.keep(s.exits)
	all := s.loadAll(s.exits, exitGroups())
	for i, l := range all {
		l.refusals = append(refused[i].refusals, l.refusals...)
		_ = refused[i].Close() // it was never in use
	}
	return all
}

// recorders returns the groups that record, and rest while recording rests.
func (s *Session) recorders() []*loaded {
	if s.exits == nil {
		return s.recorder.groups
	}
	return slices.Concat(s.recorder.groups, s.exits.groups)
}

// unarrived reports whether data came to sockets whose arrivals this kernel does not report.
func (s *Session) unarrived() bool {
	arrivals := s.groups["arrivals"]
	return arrivals != nil && arrivals.less != "" && s.decoder != nil && s.decoder.notTCP
}
