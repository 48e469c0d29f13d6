//go:build linux && (amd64 || arm64)

package capture

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// An object of probes that the kernel refuses costs its own hooks, whenever it is refused, and no others.
func TestRefusedProbesCostTheirHooks(t *testing.T) {
	for _, p := range probeObjects() {
		if len(p.hooks) == 0 {
			t.Errorf("%s: no hook says whether its facts are recorded", p.name)
		}
		s := newSession(Options{})
		defer s.Close()
		s.tls = &tlsProbes{}
		for _, g := range recorderGroups() {
			s.groups[g.name] = &loaded{group: g, way: g.ways[0]}
		}
		before := strings.Fields(s.hooks())
		s.hooking.refuse(p.name)
		after := strings.Fields(s.hooks())
		for _, hook := range before {
			if slices.Contains(p.hooks, hook) == slices.Contains(after, hook) {
				t.Errorf("without %s, which costs %v, there are the hooks %v", p.name, p.hooks, after)
			}
		}
		for _, hook := range p.hooks {
			if !slices.Contains(before, hook) {
				t.Errorf("%s: its hook %s is not there before", p.name, hook)
			}
		}
	}
}

// Each failed attempt to load an object of probes is recorded.
func TestLoadingInVainIsNoted(t *testing.T) {
	var all []string
	for _, p := range probeObjects() {
		all = append(all, p.name)
	}
	s := newSession(Options{Refuse: all})
	defer s.Close()
	s.recorder = &object{}
	for hook, load := range map[string]func() error{
		recording.HookGoCalls: func() error { return s.goProbes.load(s) }, recording.HookParks: func() error { return s.goParks.load(s) },
		recording.HookQueues:   func() error { return s.queues.load(s) },
		recording.HookContexts: func() error { return s.python.load(s) }, recording.HookBoundaries: func() error { return s.node.load(s) },
	} {
		if slices.Contains(s.hooking.lost(), hook) {
			t.Errorf("%s: lost before it was loaded", hook)
		}
		if err := load(); err == nil || !slices.Contains(s.hooking.lost(), hook) {
			t.Errorf("%s: loaded with %v, lost: %v", hook, err, s.hooking.lost())
		}
	}
	s.recorder = nil
}

// The manifest is repeated when the hooks have changed, and only then.
func TestHooksAreToldAgain(t *testing.T) {
	s := newSession(Options{})
	defer s.Close()
	s.hooking.told = s.hooks()
	if again := s.tellHooks(); again != nil {
		t.Errorf("told again without a reason: %v", again)
	}
	s.hooking.refuse("go-waits")
	again := s.tellHooks()
	if len(again) != 1 {
		t.Fatalf("told %d times", len(again))
	}
	if m := again[0].Fact.(*recording.Manifest); slices.Contains(strings.Fields(m.Hooks), recording.HookParks) {
		t.Errorf("hooks: %s", m.Hooks)
	}
	if again := s.tellHooks(); again != nil {
		t.Errorf("told again though nothing changed: %v", again)
	}
}
