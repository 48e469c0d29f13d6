//go:build linux && (amd64 || arm64)

package unwind

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"go.opentelemetry.io/ebpf-profiler/support"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// profilerMaps are maps of the profiler that are used here.
type profilerMaps struct {
	pids  *ebpf.Map // processes that it should examine
	pages *ebpf.Map // positions of the code of examined processes
}

// Names of the maps, as its programs use them.
const (
	pidsMap  = "pid_events"
	pagesMap = "pid_page_to_mapping_info"
)

// find takes the maps from a program's instructions, where load puts them.
func (p *profilerMaps) find(code asm.Instructions, load func() error) error {
	return takeMaps(code, map[string]**ebpf.Map{pidsMap: &p.pids, pagesMap: &p.pages}, load)
}

// takeMaps takes maps with the given names from a program's instructions, where load puts them.
func takeMaps(code asm.Instructions, maps map[string]**ebpf.Map, load func() error) error {
	at := map[string]int{}
	for i, instruction := range code {
		at[instruction.Reference()] = i
	}
	if err := load(); err != nil {
		return err
	}
	for name, to := range maps {
		if i, ok := at[name]; ok {
			*to, _ = code[i].Map().(*ebpf.Map)
		}
		if *to == nil {
			return fmt.Errorf("it does not use the map %s", name)
		}
	}
	return nil
}

// knows reports whether the profiler has examined a process: as its last step it enters the positions of the code.
func (p *profilerMaps) knows(pid int) (bool, error) {
	file, err := procfs.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return false, err
	}
	defer file.Close()
	address, err := firstCode(file)
	if err != nil {
		return false, err
	}
	key := support.PIDPage{PrefixLen: 32 + 64, Pid: bits.ReverseBytes32(uint32(pid)), Page: bits.ReverseBytes64(address)}
	var value support.PIDPageMappingInfo
	return p.pages.Lookup(&key, &value) == nil, nil
}

// firstCode returns the first address of a file's code in the text of /proc/PID/maps.
func firstCode(maps io.Reader) (uint64, error) {
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || !strings.Contains(fields[1], "x") || !strings.HasPrefix(fields[5], "/") {
			continue
		}
		start, _, _ := strings.Cut(fields[0], "-")
		return strconv.ParseUint(start, 16, 64)
	}
	return 0, fmt.Errorf("it has no code: %w", io.ErrUnexpectedEOF)
}

// Await waits until the profiler has examined the processes, so that their first stacks are not missed. It gives up
// after the given time.
func (u *Unwinder) Await(pids []int, most time.Duration) {
	for deadline := time.Now().Add(most); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		known := true
		for _, pid := range pids {
			ok, err := u.moments.profiler.knows(pid)
			known = known && (ok || err != nil)
		}
		if known {
			break
		}
	}
	u.correctRuby()
}
