//go:build linux && (amd64 || arm64)

package capture

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// object is a file of programs whose maps are loaded. Its groups are loaded one by one, so that a refused group does
// not affect others.
type object struct {
	spec   *ebpf.CollectionSpec
	maps   *ebpf.Collection     // with the variables
	byName map[string]*ebpf.Map // all maps, including shared ones
	refuse []string             // groups and programs that must not be loaded, for tests
	groups []*loaded
}

// newObject loads the maps of an object, except those that it shares with the recorder.
func (s *Session) newObject(spec *ebpf.CollectionSpec) (*object, error) {
	var shared map[string]*ebpf.Map
	if s.recorder != nil {
		shared = s.recorder.byName
	}
	bare := spec.Copy()
	clear(bare.Programs)
	coll, err := ebpf.NewCollectionWithOptions(bare, *sharing(bare, shared))
	if err != nil {
		return nil, err
	}
	return &object{spec: spec, maps: coll, byName: maps.Clone(coll.Maps), refuse: s.opts.Refuse}, nil
}

// sharing returns the options with which an object uses the shared maps that it also declares.
func sharing(spec *ebpf.CollectionSpec, shared map[string]*ebpf.Map) *ebpf.CollectionOptions {
	both := maps.Clone(shared)
	maps.DeleteFunc(both, func(name string, _ *ebpf.Map) bool { return spec.Maps[name] == nil || strings.HasPrefix(name, ".") })
	return &ebpf.CollectionOptions{MapReplacements: both}
}

// loaded is a group as this kernel accepts it.
type loaded struct {
	group
	object   *object
	way      []string        // the way used; nil: none
	programs []*ebpf.Program // of that way
	links    []link.Link     // of the attached programs
	refusals []*Refusal      // of the ways tried before it, or of all ways
}

// ok reports whether the group is active.
func (l *loaded) ok() bool { return l.way != nil }

// load loads a group and attaches it, using the first way that the kernel accepts. The kernel's types are read once
// for all groups.
func (o *object) load(g group, types *btf.Cache) *loaded {
	l := &loaded{group: g, object: o}
	o.groups = append(o.groups, l)
	for _, l.way = range g.ways {
		refused := l.try(types)
		if refused == nil {
			if len(l.refusals) > 0 {
				l.less = cmp.Or(g.worse, g.less)
			}
			return l
		}
		l.refusals = append(l.refusals, refused)
		_ = l.Close() // it was never in use
	}
	l.way = nil
	return l
}

func (l *loaded) try(types *btf.Cache) *Refusal {
	for _, name := range l.way {
		program, err := l.object.program(l.name, name, types)
		if err != nil {
			return refusal(l.name, name, err)
		}
		l.programs = append(l.programs, program)
	}
	return l.attach()
}

func (o *object) program(group, name string, types *btf.Cache) (*ebpf.Program, error) {
	if slices.Contains(o.refuse, group) || slices.Contains(o.refuse, name) {
		return nil, errForTest
	}
	one := &ebpf.CollectionSpec{
		Maps: o.spec.Maps, Programs: map[string]*ebpf.ProgramSpec{name: o.spec.Programs[name]},
		Types: o.spec.Types, ByteOrder: o.spec.ByteOrder,
	}
	coll, err := ebpf.NewCollectionWithOptions(one, ebpf.CollectionOptions{MapReplacements: o.byName, Cache: types})
	if err != nil {
		return nil, err
	}
	defer coll.Close()
	return coll.DetachProgram(name), nil
}

// allLoaded frees the code of the programs and its types: the kernel has copies.
func (o *object) allLoaded() {
	o.spec.Types = nil
	for _, spec := range o.spec.Programs {
		spec.Instructions = nil
	}
}

// attach attaches the programs that have a fixed place in the kernel. Iterators are opened once, because some kernels
// refuse them only then. Probes are attached when there is a process for them.
func (l *loaded) attach() *Refusal {
	for i, name := range l.way {
		attached, err := l.object.attach(name, l.programs[i])
		if err != nil {
			_ = l.detach()
			return refusal(l.name, name, err)
		}
		if attached != nil {
			l.links = append(l.links, attached)
		}
	}
	return nil
}

func (o *object) attach(name string, program *ebpf.Program) (link.Link, error) {
	spec := o.spec.Programs[name]
	switch {
	case spec.Type == ebpf.RawTracepoint:
		return link.AttachRawTracepoint(link.RawTracepointOptions{Name: spec.AttachTo, Program: program})
	case spec.AttachType == ebpf.AttachTraceIter:
		r, err := openIterator(o.iterator(name, program))
		if err != nil {
			return nil, err
		}
		return nil, r.Close()
	case spec.Type == ebpf.Tracing:
		return link.AttachTracing(link.TracingOptions{Program: program})
	}
	return nil, nil
}

// iterator returns the options of an iterator. An iterator over a map uses the map of sockets.
func (o *object) iterator(name string, program *ebpf.Program) link.IterOptions {
	opts := link.IterOptions{Program: program}
	if o.spec.Programs[name].AttachTo == "bpf_sk_storage_map" {
		opts.Map = o.byName[probesMapFlows]
	}
	return opts
}

// inOneNamespace reports whether an iterator sees the sockets of one network namespace only.
func (o *object) inOneNamespace(name string) bool {
	at := o.spec.Programs[name].AttachTo
	return at == "tcp" || at == "unix"
}

// detach detaches the programs until they are attached again.
func (l *loaded) detach() error {
	var errs []error
	for _, attached := range l.links {
		errs = append(errs, attached.Close())
	}
	l.links = nil
	return errors.Join(errs...)
}

// Close unloads the group.
func (l *loaded) Close() error {
	err := l.detach()
	for _, program := range l.programs {
		err = errors.Join(err, program.Close())
	}
	l.programs, l.way = nil, nil
	return err
}

// Close unloads all groups and the maps.
func (o *object) Close() error {
	var errs []error
	for _, l := range o.groups {
		errs = append(errs, l.Close())
	}
	for _, m := range o.byName {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
