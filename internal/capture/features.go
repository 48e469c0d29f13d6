//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// Feature is a group of programs, with how this kernel accepts it.
type Feature struct {
	Name     string
	Hooks    []string // that a recording lacks without it
	Needed   bool     // nothing is recorded without it
	OK       bool
	By       []string   // the attachment points in the kernel that it uses; none: the code of processes
	Lacks    string     // what is not known without it
	Less     string     // what is not known even with it, or what it costs
	Refusals []*Refusal // of the ways tried before By, or of all ways: why it is not OK
}

// Features loads each group of programs, attaches it briefly, and returns the results. Groups and programs in refuse
// are treated as if the kernel refused them. The error is one of Open's: no program was tried.
func Features(refuse []string) ([]Feature, error) {
	s := newSession(Options{Refuse: refuse})
	defer s.Close()
	if err := s.loadMaps(); err != nil {
		return nil, err
	}
	s.loadGroups()
	s.startStorage()
	var all []Feature
	for _, l := range s.order {
		all = append(all, l.feature())
	}
	for _, p := range probeObjects() {
		err := s.tryProbes(p)
		all = append(all, Feature{Name: p.name, Hooks: p.hooks, Lacks: p.lacks, OK: err == nil, Refusals: refusals(p.name, err)})
	}
	err := s.tryStacks()
	return append(all, Feature{
		Name: stacksGroup, Hooks: []string{recording.HookStacks}, Lacks: "where in the code threads run and wait",
		OK: err == nil, Refusals: refusals(stacksGroup, err),
	}), nil
}

func refusals(group string, err error) []*Refusal {
	if err == nil {
		return nil
	}
	return []*Refusal{refusal(group, "", err)}
}

func (l *loaded) feature() Feature {
	f := Feature{Name: l.name, Hooks: l.hooks, Needed: l.needed, OK: l.ok(), Lacks: l.lacks, Less: l.less, Refusals: l.refusals}
	for _, name := range l.way {
		if spec := l.object.spec.Programs[name]; spec.AttachTo != "" {
			f.By = append(f.By, spec.SectionName)
		}
	}
	return f
}

// tryProbes loads an object of probes, and runs one at a function of dwell's own.
func (s *Session) tryProbes(p probeObject) error {
	spec, err := p.spec()
	if err != nil {
		return fmt.Errorf("read the built-in programs: %w", err)
	}
	prepareProbes(spec)
	var coll *ebpf.Collection
	err = s.sharing(p.name, spec, func(shared *ebpf.CollectionOptions) (err error) {
		coll, err = ebpf.NewCollectionWithOptions(spec, *shared)
		return err
	})
	if err != nil {
		return err
	}
	defer coll.Close()
	for _, program := range coll.Programs {
		if program.Type() != ebpf.Kprobe { // so the kernel can call programs at code of processes
			continue
		}
		links, err := probeSelf(program)
		closeAll(links)
		return err
	}
	return nil
}

// probeSelf attaches a program to the function of dwell on which probes are tried.
func probeSelf(program *ebpf.Program) ([]io.Closer, error) {
	const name = "github.com/getdwell/dwell/internal/capture.probed"
	exe, err := target.GoFunctions(os.Getpid(), name)
	if err != nil {
		return nil, err
	}
	f, found := exe.Functions[name]
	if !found {
		return nil, fmt.Errorf("dwell has no function %s", name)
	}
	return probeSite{os.Getpid(), exe.File, f.Probe}.attach(program, []uint64{f.Probe})
}

// tryStacks starts the profiler briefly.
func (s *Session) tryStacks() error {
	o := DefaultStacks()
	u, err := s.startUnwinder(unwind.Options{Watched: s.objects.Watched, Hints: s.objects.WatchedHints, Threads: s.objects.Spans, Gap: o.Gap, Period: o.Period})
	if err != nil {
		return err
	}
	return errors.Join(u.Close())
}

// startUnwinder loads the profiler.
func (s *Session) startUnwinder(o unwind.Options) (*unwind.Unwinder, error) {
	if slices.Contains(s.opts.Refuse, stacksGroup) {
		return nil, errForTest
	}
	return unwind.Start(o)
}
