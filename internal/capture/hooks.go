//go:build linux && (amd64 || arm64)

package capture

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/getdwell/dwell/recording"
)

// hooking is which hooks a recording is said to have. Objects of probes are loaded when there is
// a process for them, and may be refused then.
type hooking struct {
	told    string // by the last manifest; for the goroutine that records
	mu      sync.Mutex
	refused map[string]struct{} // objects of probes
}

// refuse notes that an object of probes could not be loaded.
func (h *hooking) refuse(group string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[string]struct{}{}
	}
	h.refused[group] = struct{}{}
}

// lost are the hooks that the recording does not have without what was refused.
func (h *hooking) lost() (hooks []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range probeObjects() {
		if _, refused := h.refused[p.name]; refused {
			hooks = append(hooks, p.hooks...)
		}
	}
	return hooks
}

func (s *Session) manifest() *recording.Manifest {
	return &recording.Manifest{
		Tool: s.opts.Tool, Kernel: kernelRelease(), Arch: runtime.GOARCH,
		CPUs: int64(cpus()), Hooks: s.hooks(), Target: s.opts.Target,
	}
}

func (s *Session) hooks() string {
	names := []string{
		recording.HookDNS, recording.HookTLS, recording.HookGoroutines, recording.HookAsync, recording.HookQueues, recording.HookHost,
		recording.HookStorage,
	}
	names = append(names, s.groupHooks()...)
	if !s.opts.NoGoProbes {
		names = append(names, recording.HookGoCalls, recording.HookGoRuns, recording.HookParks)
	}
	if s.unwinder != nil {
		names = append(names, recording.HookStacks)
	}
	if s.tls != nil {
		names = append(names, recording.HookTLSHeads)
	}
	lost := s.hooking.lost()
	if s.unarrived() {
		lost = append(lost, recording.HookArrivals)
	}
	names = slices.DeleteFunc(names, func(hook string) bool { return slices.Contains(lost, hook) })
	slices.Sort(names)
	return strings.Join(names, " ")
}

// tellHooks is a manifest if the hooks are not those that the last one told of: some joined, or
// were refused, since.
func (s *Session) tellHooks() []recording.Event {
	m := s.manifest()
	if m.Hooks == s.hooking.told {
		return nil
	}
	s.hooking.told = m.Hooks
	return []recording.Event{{Time: clock(), Fact: m}}
}
