//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"strings"
	"testing"
)

// A group that the kernel refuses costs its hooks, and is said to be missing; one that is
// needed is the end, and named.
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

// Of the probes on what goroutines wait for, a set that the kernel refuses costs what it tells;
// without that of locks there are none.
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
