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
