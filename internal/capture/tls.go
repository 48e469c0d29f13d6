//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// tlsHitCost is the assumed cost of one hit of a probe to the probed process, as measured in a virtual machine;
	// without virtualisation it is a fourth of that.
	tlsHitCost = 8 * time.Microsecond
	// tlsSaved is for how many seconds unused credit accumulates: a burst does not mean that a process is too busy.
	tlsSaved = 5
	// maxProbed bounds the processes that are probed at a time, because each uses descriptors.
	maxProbed = 256
	// Minimum time between examinations of a process's mappings, at first and at most.
	firstLook, lastLook = time.Second, time.Minute
)

// tlsProbes probes the functions to which processes pass data to be encrypted. All methods may be called from any
// goroutine. Methods that the recording itself calls never wait for a goroutine that reads a library or attaches a
// probe, which takes the kernel long.
type tlsProbes struct {
	objects struct {
		Write    *ebpf.Program `ebpf:"tls_write"`
		WriteEx  *ebpf.Program `ebpf:"tls_write_ex"`
		Accounts *ebpf.Map     `ebpf:"tls_accounts"`
	}
	most time.Duration // initial and maximum credit of a process

	looking sync.Mutex                          // held by look
	writers map[target.FileID]target.TLSWriters // of files that were read; empty if a file has none

	mu     sync.Mutex // guards the following fields; never held while the kernel works
	probed map[int]*tlsProbed
	hits   uint64 // of processes that are no longer probed
	notes  []recording.Missing
}

// tlsProbed is one process that was examined.
type tlsProbed struct {
	links map[target.FileID][]io.Closer
	spent bool      // it costs too much: never probe it again
	next  time.Time // when to examine it again, if there is a reason
	wait  time.Duration
}

// loadTLS loads the programs. They write to the ring of s and share its watched set.
func (s *Session) loadTLS(o TLSHeads) (*tlsProbes, error) {
	spec, err := loadTlsProbes()
	if err != nil {
		return nil, fmt.Errorf("read the built-in programs for TLS: %w", err)
	}
	prepareProbes(spec)
	p := &tlsProbes{most: tlsSaved * o.PerSecond, writers: map[target.FileID]target.TLSWriters{}, probed: map[int]*tlsProbed{}}
	err = errors.Join(
		spec.Variables[tlsProbesVarHitCost].Set(uint64(tlsHitCost)),
		spec.Variables[tlsProbesVarShare].Set(uint64(time.Second/o.PerSecond)),
		spec.Variables[tlsProbesVarMost].Set(uint64(p.most)))
	if err != nil {
		return nil, fmt.Errorf("set what probing TLS may cost: %w", err)
	}
	err = s.sharing("tls-calls", spec, func(shared *ebpf.CollectionOptions) error { return spec.LoadAndAssign(&p.objects, shared) })
	if err != nil {
		return nil, fmt.Errorf("load the programs for TLS: %w", err)
	}
	return p, nil
}

// look probes the TLS libraries that a process has mapped and that are not probed yet. speaks says that the process
// is known to speak TLS. found is false if it was examined and has no library.
func (p *tlsProbes) look(pid int, speaks bool, now time.Time) (found bool, err error) {
	p.looking.Lock()
	defer p.looking.Unlock()
	if due, err := p.due(pid, speaks, now); !due {
		return true, err
	}
	libraries, err := target.TLSLibraries(pid)
	if err != nil {
		return true, err
	}
	for _, l := range libraries {
		if err := p.probe(pid, l); err != nil {
			return true, err
		}
	}
	return p.probing(pid), nil
}

// due reports whether a process should be examined now, and sets when it may be next.
func (p *tlsProbes) due(pid int, speaks bool, now time.Time) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.probed[pid]
	if process == nil {
		if len(p.probed) >= maxProbed {
			return false, fmt.Errorf("more than %d processes are watched: of further ones TLS calls are not named", maxProbed)
		}
		process = &tlsProbed{links: map[target.FileID][]io.Closer{}}
		p.probed[pid] = process
	}
	if process.spent || now.Before(process.next) {
		return false, nil
	}
	if speaks { // the library is already loaded, or never will be
		process.wait = min(max(2*process.wait, firstLook), lastLook)
		process.next = now.Add(process.wait)
	}
	return true, nil
}

func (p *tlsProbes) probe(pid int, l target.TLSLibrary) error {
	file := l.File.ID
	w, known := p.writers[file]
	if !known {
		var err error
		if w, err = l.TLSWriters(); err != nil && !errors.Is(err, target.ErrUnsupported) {
			return err
		}
		p.writers[file] = w
	}
	if w == (target.TLSWriters{}) || p.probes(pid, file) {
		return nil
	}
	account := tlsProbesTlsAccount{Credit: uint64(p.most), Since: uint64(clock())}
	if err := p.objects.Accounts.Update(uint32(pid), &account, ebpf.UpdateNoExist); err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
		return fmt.Errorf("begin to probe TLS in process %d: %w", pid, err)
	}
	links, err := p.attach(pid, l, w)
	if !p.keep(pid, file, links) {
		closeAll(links) // it has ended, or costs too much
	}
	return err
}

func (p *tlsProbes) attach(pid int, l target.TLSLibrary, w target.TLSWriters) (links []io.Closer, err error) {
	exe, opened, err := executable(l.File)
	if err != nil {
		return nil, fmt.Errorf("open a TLS library of process %d: %w", pid, err)
	}
	defer opened.Close()
	for program, offset := range map[*ebpf.Program]uint64{p.objects.Write: w.Write, p.objects.WriteEx: w.WriteEx} {
		if offset == 0 {
			continue
		}
		u, err := probeAt(exe, program, offset, pid)
		if err != nil {
			return links, fmt.Errorf("probe a TLS library of process %d: %w", pid, err)
		}
		links = append(links, u)
	}
	return links, nil
}

// keep takes over the probes of a process, unless it must not have any.
func (p *tlsProbes) keep(pid int, file target.FileID, links []io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.probed[pid]
	if process == nil {
		_ = p.objects.Accounts.Delete(uint32(pid))
		return false
	}
	if process.spent {
		return false
	}
	process.links[file] = links
	return true
}

// probes reports whether a library of a process is probed.
func (p *tlsProbes) probes(pid int, file target.FileID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.probed[pid]
	if process == nil {
		return false
	}
	_, done := process.links[file]
	return done
}

// note notes what is not named; the recording goroutine writes it.
func (p *tlsProbes) note(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, missingHeads(why))
}

func (p *tlsProbes) takeNotes() []recording.Missing {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes
	p.notes = nil
	return notes
}

// probing reports whether a process is probed.
func (p *tlsProbes) probing(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.probed[pid]
	return process != nil && len(process.links) > 0 && !process.spent
}

// again allows another examination of a process that runs another program now.
func (p *tlsProbes) again(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process := p.probed[pid]; process != nil {
		process.next, process.wait = time.Time{}, 0
	}
}

// spent permanently ends the probing of a process that costs too much.
func (p *tlsProbes) spent(pid int) {
	p.mu.Lock()
	var links []io.Closer
	if process := p.probed[pid]; process != nil {
		process.spent = true
		links = process.take()
	}
	p.mu.Unlock()
	closeAll(links)
}

// forget ends the probing of a process that has ended.
func (p *tlsProbes) forget(pid int) {
	p.mu.Lock()
	var links []io.Closer
	if process := p.probed[pid]; process != nil {
		links = process.take()
		delete(p.probed, pid)
		p.hits += p.hitsOf(pid)
		_ = p.objects.Accounts.Delete(uint32(pid)) // it may have none
	}
	p.mu.Unlock()
	closeAll(links)
}

// take returns the probes of a process, to be closed.
func (process *tlsProbed) take() (all []io.Closer) {
	for file, links := range process.links {
		all = append(all, links...)
		process.links[file] = nil
	}
	return all
}

func (p *tlsProbes) hitsOf(pid int) uint64 {
	var a tlsProbesTlsAccount
	if p.objects.Accounts.Lookup(uint32(pid), &a) != nil {
		return 0
	}
	return a.Hits
}

// cost returns what probing has cost the processes so far, in ns.
func (p *tlsProbes) cost() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	hits := p.hits
	for pid := range p.probed {
		hits += p.hitsOf(pid)
	}
	return int64(hits) * int64(tlsHitCost)
}

// Close ends all probing. No goroutine may examine processes any more.
func (p *tlsProbes) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, process := range p.probed {
		closeAll(process.take())
	}
	p.objects.Write.Close()
	p.objects.WriteEx.Close()
	return p.objects.Accounts.Close()
}

// missingHeads notes that TLS calls are not named, or no longer.
func missingHeads(why string) recording.Missing { return missingFact("tls-heads", why) }
