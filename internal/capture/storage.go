//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/processor"
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// storageProbes are the programs of storage.bpf.c: address spaces, syncs and block devices.
type storageProbes struct {
	groups map[string]*loaded
	costs  *ebpf.Map
	spent  [storageStorageProgramSTORAGE_PROGRAMS]int64 // ns, at the last reading
	blocks *ebpf.Map
	was    map[storageBlockKey]storageBlockStat // at the last reading
	since  recording.Time                       // time of the last reading
}

// startStorage loads and attaches the programs that this kernel allows. The recording continues without the others,
// and says so.
func (s *Session) startStorage() {
	spec, err := loadStorage()
	var o *object
	if err == nil {
		o, err = s.newObject(spec)
	}
	for _, g := range storageGroups() {
		if err != nil {
			s.keepGroup(&loaded{group: g, refusals: refusals(g.name, err)})
		} else {
			s.add(o, g)
		}
	}
	if err != nil {
		return
	}
	s.keep(o)
	s.storage.groups = s.groups
	s.storage.costs, s.storage.blocks = o.byName[storageMapStorageCosts], o.byName[storageMapBlocks]
}

// storageShare is the share of one CPU that each kind of program may use: a device may handle a million requests per
// second, and a kernel's locks may be as busy.
const storageShare = 0.01

// storageSlots are the groups by the slots of their costs.
func storageSlots() [storageStorageProgramSTORAGE_PROGRAMS]string {
	return [...]string{
		storageStorageProgramSTORAGE_FAULT: "page-faults", storageStorageProgramSTORAGE_MAPPING: "mappings",
		storageStorageProgramSTORAGE_CONTENTION: "address-space-locks", storageStorageProgramSTORAGE_BLOCK: "block-devices",
		storageStorageProgramSTORAGE_SYNC: "syncs",
	}
}

// keepWithin unloads the groups that used more than their share since the last call, and reports that.
func (p *storageProbes) keepWithin(elapsed recording.Duration) (missing []recording.Missing) {
	for slot, name := range storageSlots() {
		ns, _ := p.costOf(uint32(slot))
		took := ns - p.spent[slot]
		p.spent[slot] = ns
		g := p.groups[name]
		if elapsed <= 0 || took <= int64(float64(elapsed)*storageShare) || !g.ok() {
			continue
		}
		why := fmt.Sprintf("%s: it happens so often that watching it takes more than 1 %% of a CPU, and was ended", g.lacks)
		if err := g.Close(); err != nil {
			why = fmt.Sprintf("%s (%v)", why, err)
		}
		missing = append(missing, missingFact(name, why))
	}
	return missing
}

// cost returns the time of the programs so far, in ns, and the part of it on threads of watched processes.
func (p *storageProbes) cost() (ns, inside int64) {
	if p.costs == nil {
		return 0, 0
	}
	for slot := range uint32(storageStorageProgramSTORAGE_PROGRAMS) {
		all, in := p.costOf(slot)
		ns, inside = ns+all, inside+in
	}
	return ns, inside
}

func (p *storageProbes) costOf(slot uint32) (ns, inside int64) {
	var perCPU []probesCost
	if p.costs.Lookup(slot, &perCPU) != nil {
		return 0, 0
	}
	for _, c := range perCPU {
		ns, inside = ns+c.estimate(), inside+c.inside()
	}
	return ns, inside
}

// storageTick reports what each device did since the last tick, and keeps the programs within their budgets.
func (s *Session) storageTick() []recording.Event {
	p := &s.storage
	if p.blocks == nil {
		return nil
	}
	now, since := clock(), p.since
	p.since = now
	if since != recording.NoTime {
		s.decoder.note(p.keepWithin(now.Sub(since)))
	}
	return p.read(since, now)
}

func (p *storageProbes) read(since, now recording.Time) (events []recording.Event) {
	first := p.was == nil
	if first {
		p.was = map[storageBlockKey]storageBlockStat{}
	}
	var key storageBlockKey
	var stat storageBlockStat
	for it := p.blocks.Iterate(); it.Next(&key, &stat); {
		was := p.was[key]
		p.was[key] = stat
		if first || stat.Count == was.Count || key.Op >= uint32(len(blockOperations)) {
			continue
		}
		events = append(events, recording.Event{Time: now, Fact: blockFact(key, &stat, &was, since)})
	}
	return events
}

// blockOperations are the names of enum block_op of storage.bpf.c, in its order.
var blockOperations = [...]string{"read", "write", "flush"}

func blockFact(key storageBlockKey, stat, was *storageBlockStat, since recording.Time) *recording.BlockIO {
	f := &recording.BlockIO{
		Device: cString(stat.Name[:]), Operation: blockOperations[key.Op], From: since,
		Count: int64(stat.Count - was.Count), Bytes: int64(stat.Bytes - was.Bytes),
		Queued: int64(stat.QueuedNs - was.QueuedNs), Serviced: int64(stat.DeviceNs - was.DeviceNs), Longest: int64(stat.LongestNs),
	}
	slots := make([]int64, len(stat.Slots))
	for i := range slots {
		slots[i] = int64(stat.Slots[i] - was.Slots[i])
	}
	f.P50, f.P99 = slotQuantile(slots, 50), slotQuantile(slots, 99)
	return f
}

// slotQuantile returns the upper bound of the slot that contains a quantile.
func slotQuantile(slots []int64, percent int64) int64 {
	var all, sum int64
	for _, n := range slots {
		all += n
	}
	want := max(1, (all*percent+99)/100)
	for i, n := range slots {
		if sum += n; sum >= want {
			return 2<<i - 1
		}
	}
	return 0
}

// maxMemorySamples bounds how many processes' memory is sampled each second: those that were watched first.
const maxMemorySamples = 32

// memory samples the address spaces of the watched processes that are alive.
func (s *Session) memory() (events []recording.Event) {
	var pids []uint32
	for pid, p := range s.decoder.processes {
		if p.ended == recording.NoTime {
			pids = append(pids, pid)
		}
	}
	slices.SortFunc(pids, func(a, b uint32) int {
		return int(s.decoder.processes[a].fact.ID - s.decoder.processes[b].fact.ID)
	})
	for _, pid := range pids[:min(len(pids), maxMemorySamples)] {
		m, err := target.MemoryUse(int(pid))
		if err != nil {
			continue // it ended meanwhile
		}
		m.Process = s.decoder.processes[pid].fact.ID
		events = append(events, recording.Event{Time: clock(), Fact: &m})
	}
	return events
}

// mapping decodes a mapping request. Some kernels search for room twice; the second event contains nothing new.
func (d *decoder) mapping(h *probesHead, e *storageMappingEvent) {
	f := recording.Mapping{
		Thread: d.actor(h), Goroutine: recording.GoroutineID(e.Goid), Syscall: processor.SyscallName(e.Nr),
		Bytes: int64(e.Bytes), Before: int64(e.Before),
	}
	if e.Ino != 0 {
		f.File = d.fileOf(fileKey{e.Ino, e.Dev})
	}
	if last := &d.lastMapping; last.fact == f && d.at.Sub(last.at) < sameMapping {
		return
	}
	d.lastMapping = mappedAt{f, d.at}
	d.emit(d.at, &f)
}

// sameMapping is the time, in ns, within which two equal requests of a thread count as one.
const sameMapping = 20_000

type mappedAt struct {
	fact recording.Mapping
	at   recording.Time
}

// memoryWait decodes a wait for the lock of an address space.
func (d *decoder) memoryWait(h *probesHead, e *storageMemoryWaitEvent) {
	f := &recording.MemoryWait{
		Thread: d.actor(h), Goroutine: recording.GoroutineID(e.Goid), Since: recording.Time(e.Since),
		Syscall: processor.SyscallName(e.Nr), Write: int64(e.Write),
	}
	if e.OwnerTid != 0 && d.processes[e.OwnerTgid] != nil {
		f.Owner = d.use(d.threadOf(e.OwnerTid, e.OwnerStart, e.OwnerTgid))
	}
	d.emit(d.at, f)
}

// decodeSync decodes a sync of a file.
func decodeSync(d *decoder, h *probesHead, e *storageSyncEvent) {
	f := &recording.Sync{
		Thread: d.actor(h), Goroutine: recording.GoroutineID(e.Goid), Since: recording.Time(e.Since), Syscall: processor.SyscallName(e.Nr),
	}
	if e.Ino != 0 {
		f.File = d.fileOf(fileKey{e.Ino, e.Dev})
	}
	d.emit(d.at, f)
}
