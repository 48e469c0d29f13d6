//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"github.com/getdwell/dwell/recording"
)

// sharedObjects are the recorder's maps and variables that Go code uses.
type sharedObjects struct {
	probesMaps
	Gaps      *ebpf.Variable `ebpf:"gaps"`
	SpansLate *ebpf.Variable `ebpf:"spans_late"`
}

// loadMaps loads the recorder's maps into the kernel.
func (s *Session) loadMaps() error {
	spec, err := loadProbes()
	if err != nil {
		return fmt.Errorf("read the built-in programs: %w", err)
	}
	prepareProbes(spec)
	s.sizeRing(spec)
	if err := spec.Variables["thread_size"].Set(threadSize(os.Getpagesize())); err != nil {
		return fmt.Errorf("read the built-in programs: %w", err)
	}
	if s.recorder, err = s.newObject(spec); err != nil {
		return explain(err)
	}
	if err := s.recorder.maps.Assign(&s.objects); err != nil {
		return fmt.Errorf("read the built-in programs: %w", err)
	}
	return nil
}

// sizeRing sets the configured ring size in an object that uses the ring.
func (s *Session) sizeRing(spec *ebpf.CollectionSpec) {
	if s.opts.RingBytes > 0 {
		spec.Maps[probesMapEvents].MaxEntries = uint32(s.opts.RingBytes)
	}
}

// threadSize returns the size of a thread's kernel stack: four pages of the usual size, and at least one page.
func threadSize(page int) uint32 { return uint32(max(16384, page)) }

// load loads all of the recorder's programs into the kernel and attaches them. It fails if a needed group is refused.
func (s *Session) load() error {
	if err := s.loadMaps(); err != nil {
		return err
	}
	s.loadGroups()
	for _, l := range s.order {
		if l.needed && !l.ok() {
			return explain(l.refused())
		}
	}
	early := olderThan(6, 4) && s.has("threads") && slices.Contains(s.groups["processes"].way, "process_fork")
	if !early {
		return nil
	}
	if err := s.objects.SpansLate.Set(uint32(0)); err != nil {
		return fmt.Errorf("set up what is kept of threads: %w", err)
	}
	return nil
}

// loadGroups loads the groups that every recording uses.
func (s *Session) loadGroups() {
	for _, g := range threadGroups() {
		s.add(s.recorder, g)
	}
	s.loadSockets()
}

// add loads a group.
func (s *Session) add(o *object, g group) (l *loaded) {
	s.loading.with(func(types *btf.Cache) { l = o.load(g, types) })
	return s.keepGroup(l)
}

// keepGroup keeps a group, and notes what the recording lacks without it.
func (s *Session) keepGroup(l *loaded) *loaded {
	s.groups[l.name] = l
	s.order = append(s.order, l)
	switch {
	case !l.ok():
		s.missing = append(s.missing, missingFact(l.name, fmt.Sprintf("%s: %v", l.lacks, l.refusals[len(l.refusals)-1])))
	case l.less != "":
		s.missing = append(s.missing, missingFact(l.name, l.less))
	}
	return l
}

// has reports whether a group is active.
func (s *Session) has(group string) bool { return s.groups[group].ok() }

// loadInto loads an object of probes, which uses the recorder's maps, into the programs and maps that objects names.
func (s *Session) loadInto(objects any, group string, read func() (*ebpf.CollectionSpec, error)) error {
	err := s.tryInto(objects, group, read)
	if err != nil {
		s.hooking.refuse(group)
	}
	return err
}

func (s *Session) tryInto(objects any, group string, read func() (*ebpf.CollectionSpec, error)) error {
	spec, err := read()
	if err != nil {
		return err
	}
	prepareProbes(spec)
	return s.sharing(group, spec, func(shared *ebpf.CollectionOptions) error { return spec.LoadAndAssign(objects, shared) })
}

// groupHooks separates the hooks whose groups are all active from those that lack one.
func (s *Session) groupHooks() (seen []string) {
	without := map[string]bool{}
	for _, l := range s.groups {
		for _, hook := range l.hooks {
			without[hook] = without[hook] || !l.ok()
		}
	}
	for hook, lacking := range without {
		if !lacking {
			seen = append(seen, hook)
		}
	}
	return seen
}

// pauseGroups detaches the programs that are not needed while recording rests.
func (s *Session) pauseGroups() error {
	var errs []error
	for _, l := range s.recorders() {
		if l.rests {
			errs = append(errs, l.detach())
		}
	}
	return errors.Join(errs...)
}

// resumeGroups attaches them again: all of them, or none.
func (s *Session) resumeGroups() error {
	for _, l := range s.recorders() {
		if !l.rests {
			continue
		}
		if refused := l.attach(); refused != nil {
			return errors.Join(refused, s.pauseGroups())
		}
	}
	return nil
}

// metered returns the programs whose skipped runs count as losses.
func (s *Session) metered() (metered []meteredProgram) {
	for _, l := range s.recorders() {
		for _, program := range l.programs {
			if len(l.hooks) > 0 {
				metered = append(metered, meteredProgram{l.hooks[0], program})
			}
		}
	}
	return metered
}

// collect runs the iterators of a group and returns their output. Iterators that see only one network namespace run
// in each watched namespace.
func (s *Session) collect(group string) (data []byte, err error) {
	l := s.groups[group]
	for i, name := range l.way {
		run := func() error {
			some, err := iterate(l.object.iterator(name, l.programs[i]))
			data = append(data, some...)
			return err
		}
		if l.object.inOneNamespace(name) {
			err = errors.Join(err, s.spaces.each(run))
		} else {
			err = errors.Join(err, run())
		}
	}
	return data, err
}

// collectOrSay is collect for facts that the recording can lack.
func (s *Session) collectOrSay(group string) []byte {
	data, err := s.collect(group)
	if err != nil {
		s.lacking(group, err)
	}
	return data
}

// lacking notes that an active group failed.
func (s *Session) lacking(group string, err error) {
	why := fmt.Sprintf("%s, at times: %s", s.groups[group].lacks, strings.ReplaceAll(err.Error(), "\n", "; "))
	s.decoder.noteOnce([]recording.Missing{missingFact(group, why)})
}

func iterate(opts link.IterOptions) ([]byte, error) {
	r, err := openIterator(opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// openIterator opens an iterator for one reading.
func openIterator(opts link.IterOptions) (io.ReadCloser, error) {
	it, err := link.AttachIter(opts)
	if err != nil {
		return nil, err
	}
	defer it.Close() // the open reader keeps it alive
	return it.Open()
}
