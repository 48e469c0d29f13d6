//go:build linux && (amd64 || arm64)

package capture

import (
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// loading is what the programs of a session share while they are loaded.
type loading struct {
	mu    sync.Mutex // programs are loaded one after the other
	types *btf.Cache // the kernel's types: reading them takes longer than loading most programs; nil: they are not kept
	trap  struct {
		once sync.Once
		took time.Duration // in a tight loop
	}
}

// with calls load, which uses the kernel's types.
func (l *loading) with(load func(types *btf.Cache)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	types := l.types
	if types == nil {
		types = btf.NewCache()
	}
	load(types)
}

// done frees the kernel's types, which take tens of MB.
func (l *loading) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.types = nil
	debug.FreeOSMemory()
}

// loopTrap returns what one hit of a probe takes in a tight loop. The first call measures it, with its program. The
// probe is removed in the background, because that is what takes the kernel most of the time.
func (s *Session) loopTrap(program *ebpf.Program) time.Duration {
	t := &s.loading.trap
	t.once.Do(func() {
		var links []io.Closer
		t.took, links = measureTrap(program)
		s.workers.Go(func() { closeAll(links) })
	})
	return t.took
}

// trapCost returns what one hit of a probe costs a busy service on this machine, without the program. The kernel's
// own statistics of programs do not include this.
func (s *Session) trapCost(program *ebpf.Program) time.Duration {
	return inService * s.loopTrap(program)
}

// sharing loads an object of probes that uses the recorder's maps. In tests an error stands in for a kernel that
// refuses its programs.
func (s *Session) sharing(group string, spec *ebpf.CollectionSpec, load func(*ebpf.CollectionOptions) error) (err error) {
	if slices.Contains(s.opts.Refuse, group) {
		return errForTest
	}
	s.loading.with(func(types *btf.Cache) {
		options := sharing(spec, s.recorder.byName)
		options.Cache = types
		err = load(options)
	})
	return err
}
