//go:build linux && (amd64 || arm64)

package capture

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/getdwell/dwell/recording"
)

// hooking tracks which hooks a recording has. Objects of probes are loaded when there is a process for them, and the
// kernel may refuse them then.
type hooking struct {
	told    string // by the last manifest; used only by the recording goroutine
	mu      sync.Mutex
	refused map[string]struct{} // objects of probes
}

// refuse records that an object of probes could not be loaded.
func (h *hooking) refuse(group string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[string]struct{}{}
	}
	h.refused[group] = struct{}{}
}

// lost returns the hooks that the recording lacks because of refused objects.
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
	if !s.opts.Go.Off {
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

// tellHooks returns a manifest if the hooks differ from those of the last one: some joined, or were refused, since
// then.
func (s *Session) tellHooks() []recording.Event {
	m := s.manifest()
	if m.Hooks == s.hooking.told {
		return nil
	}
	s.hooking.told = m.Hooks
	return []recording.Event{{Time: clock(), Fact: m}}
}
