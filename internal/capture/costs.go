//go:build linux && (amd64 || arm64)

package capture

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/recording"
)

// ProgramCost is the cost of one of dwell's programs in the kernel since it was loaded.
type ProgramCost struct {
	Program string // "switch", "waking", ...; "stack-..." for those that take stacks
	Runs    int64
	Time    recording.Duration // of all runs, estimated from those that were timed
}

// costMaps returns the maps that hold costs, with the names of their slots.
func costMaps() map[string][]string {
	return map[string][]string{
		"costs": {
			probesProgramPROGRAM_SWITCH: "switch", probesProgramPROGRAM_WAKING: "waking", probesProgramPROGRAM_STATE: "state",
			probesProgramPROGRAM_ARRIVAL: "arrival", probesProgramPROGRAM_READ: "read", probesProgramPROGRAM_WRITE: "write",
			probesProgramPROGRAM_SAMPLE: "sample",
		},
		"storage_costs": {
			storageStorageProgramSTORAGE_FAULT: "storage-fault", storageStorageProgramSTORAGE_MAPPING: "storage-mapping",
			storageStorageProgramSTORAGE_CONTENTION: "storage-contention", storageStorageProgramSTORAGE_BLOCK: "storage-block",
			storageStorageProgramSTORAGE_SYNC: "storage-sync",
		},
		"stack_costs": {"stack-moment-on-cpu", "stack-moment-blocked", "stack-walk"}, // enum occasion of unwind.bpf.c
		"park_costs": { // these and the next without the cost of the trap
			parkLocks: "go-locks", parkConditions: "go-conditions", parkChannels: "go-channels", parkPauses: "go-pauses", parkSleeps: "go-sleeps",
		},
		"go_costs": {
			golangGoProgramGO_CALL: "go-call", golangGoProgramGO_RUN: "go-run", golangGoProgramGO_YIELD: "go-yield",
		},
	}
}

// ProgramCosts reads the cost of a running recorder's programs from the maps that its process has open. It needs the
// same rights as recording. The recorder's own total, including its cost in user space, is in its recording: see
// recording.Overhead.
func ProgramCosts(pid int) ([]ProgramCost, error) {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		return nil, err
	}
	var all []ProgramCost
	seen := map[ebpf.MapID]bool{}
	for _, name := range names {
		id, held := mapID(name)
		if !held || seen[id] {
			continue
		}
		seen[id] = true
		costs, err := mapCosts(id)
		if err != nil {
			return nil, fmt.Errorf("read the costs of process %d: %w (is it a recorder that still runs?)", pid, err)
		}
		all = append(all, costs...)
	}
	return all, nil
}

// mapID returns the id of the map behind a descriptor, if it is a map.
func mapID(name string) (ebpf.MapID, bool) {
	f, err := os.Open(name)
	if err != nil {
		return 0, false // closed meanwhile
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if value, is := strings.CutPrefix(in.Text(), "map_id:"); is {
			var id ebpf.MapID
			_, err := fmt.Sscan(value, &id)
			return id, err == nil
		}
	}
	return 0, false
}

func mapCosts(id ebpf.MapID) ([]ProgramCost, error) {
	m, err := ebpf.NewMapFromID(id)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	info, err := m.Info()
	if err != nil {
		return nil, err
	}
	var all []ProgramCost
	for slot, program := range costMaps()[info.Name] {
		var perCPU []probesCost
		if uint32(slot) >= m.MaxEntries() || m.Lookup(uint32(slot), &perCPU) != nil {
			continue
		}
		cost := ProgramCost{Program: program}
		for _, c := range perCPU {
			cost.Runs += int64(c.Runs)
			cost.Time += recording.Duration(c.estimate())
		}
		all = append(all, cost)
	}
	return all, nil
}
