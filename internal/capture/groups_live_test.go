//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A group that the kernel refuses costs its hooks, and is reported as missing. A needed group that is refused ends
// recording with an error that names it.
func TestRefusedGroups(t *testing.T) {
	for _, g := range append(recorderGroups(), storageGroups()...) {
		t.Run(g.name, func(t *testing.T) {
			s, err := Open(Options{Refuse: []string{g.name}})
			if !mayLoad() {
				t.Skip("SKIPPED-NO-BPF: ", err)
			}
			if g.needed {
				if !errors.Is(err, errForTest) || !strings.Contains(err.Error(), g.name) {
					t.Errorf("Open: %v; want a refusal that names the group", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			said := false
			for _, m := range s.missing {
				said = said || m.What == g.name && strings.Contains(m.Why, g.lacks)
			}
			if !said {
				t.Errorf("missing: %+v; want one of %s", s.missing, g.name)
			}
			for _, hook := range g.hooks {
				if strings.Contains(" "+s.hooks()+" ", " "+hook+" ") {
					t.Errorf("the manifest claims %s", hook)
				}
			}
		})
	}
}

// Needed groups have another way if the kernel refuses the best one. The groups that observe sockets change to it
// together, and report what it costs.
func TestOtherWays(t *testing.T) {
	for _, c := range []struct {
		refuse, group, program, less string
	}{
		{"sched_switch", "scheduling", "sched_switch_stateless", ""},
		{"process_fork", "processes", "process_fork_raw", ""},
		{"received received_inet_recvmsg", "reads", "received_at_exit", "every process of the machine"},
		{"received received_inet_recvmsg", "writes", "sent_at_exit", "every process of the machine"},
		{"sent sent_inet_sendmsg", "arrivals", "segment_came", "not of TCP"},
		{"sync_begin", "syncs", "ext4_sync_begin", "not on ext4"},
	} {
		t.Run(c.program, func(t *testing.T) {
			s, err := Open(Options{Refuse: strings.Fields(c.refuse)})
			if !mayLoad() {
				t.Skip("SKIPPED-NO-BPF: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if way := s.groups[c.group].way; way[0] != c.program {
				t.Errorf("%s by %v, want %s", c.group, way, c.program)
			}
			said := slices.ContainsFunc(s.missing, func(m recording.Missing) bool { return m.What == c.group && strings.Contains(m.Why, c.less) })
			if said != (c.less != "") {
				t.Errorf("missing: %+v; want %q of %s", s.missing, c.less, c.group)
			}
		})
	}
}

// If arrivals are known for TCP only, a recording says that it has them until another kind of connection is seen.
func TestArrivalsOfTCPAlone(t *testing.T) {
	s := newSession(Options{})
	defer s.Close()
	s.decoder = newDecoder(nil)
	for _, g := range exitGroups() {
		s.groups[g.name] = &loaded{group: g, way: g.ways[0]}
	}
	arrivals := func() bool { return slices.Contains(strings.Fields(s.hooks()), recording.HookArrivals) }
	if !arrivals() {
		t.Errorf("hooks: %s; want arrivals", s.hooks())
	}
	e := probesConnEvent{Id: 1}
	e.Addr.Family = familyUnix
	s.decoder.connection(&e)
	if arrivals() {
		t.Errorf("hooks: %s; data came to a Unix socket", s.hooks())
	}
}

// If the kernel refuses one set of the probes on what goroutines wait for, only the data of that set is missing;
// without the set for locks there are none.
func TestRefusedSetsOfGo(t *testing.T) {
	for _, c := range []struct {
		refuse, lacks string
		left          int // sets
	}{
		{"park_stop", "pauses of all goroutines are not seen", 4},
		{"go-channels", "goroutines that wait for channels are not seen", 4},
		{"park_release", "", 0},
	} {
		t.Run(c.refuse, func(t *testing.T) {
			s := newSession(Options{Refuse: []string{c.refuse}})
			defer s.Close()
			if err := s.loadMaps(); err != nil {
				if !mayLoad() {
					t.Skip("SKIPPED-NO-BPF: ", err)
				}
				t.Fatal(err)
			}
			err := s.goParks.load(s)
			if c.left == 0 {
				if !errors.Is(err, errForTest) {
					t.Errorf("loaded: %v", err)
				}
				return
			}
			missing := s.goParks.lacks()
			if err != nil || len(missing) != 1 || !strings.Contains(missing[0].Why, c.lacks) {
				t.Fatalf("%v, missing: %+v; want %s", err, missing, c.lacks)
			}
			left := 0
			for set := range parkSets {
				if s.goParks.programs[s.goParks.programsOf(set)[0]] != nil {
					left++
				}
			}
			if left != c.left {
				t.Errorf("%d sets are there, want %d", left, c.left)
			}
		})
	}
}
