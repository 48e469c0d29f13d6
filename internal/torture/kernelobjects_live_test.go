//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// kernelObjects are the programs, maps and links in the kernel, by kind and number.
type kernelObjects map[string]map[uint32]bool

func newKernelObjects() kernelObjects {
	return kernelObjects{"prog": {}, "map": {}, "link": {}}
}

// inKernel lists them.
func inKernel(t *testing.T) kernelObjects {
	t.Helper()
	all := newKernelObjects()
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		all["prog"][uint32(id)] = true
	}
	for id, err := ebpf.MapGetNextID(0); err == nil; id, err = ebpf.MapGetNextID(id) {
		all["map"][uint32(id)] = true
	}
	links, err := linksInKernel()
	for ; errors.Is(err, unix.EAGAIN); links, err = linksInKernel() { // one that is just being made
	}
	if err != nil {
		t.Fatal(err)
	}
	all["link"] = links
	return all
}

func linksInKernel() (map[uint32]bool, error) {
	links, it := map[uint32]bool{}, new(link.Iterator)
	defer it.Close()
	for it.Next() {
		links[uint32(it.ID)] = true
	}
	return links, it.Err()
}

// heldBy are those that a process and its children hold by descriptors, and what their programs use.
func heldBy(pid int) kernelObjects {
	held := newKernelObjects()
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, path := range infos {
		text, _ := os.ReadFile(path) // closed meanwhile: holds nothing
		for line := range strings.Lines(string(text)) {
			kind, number, _ := strings.Cut(line, "_id:")
			if id, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32); err == nil && held[kind] != nil {
				held[kind][uint32(id)] = true
			}
		}
	}
	for id := range held["prog"] {
		for _, used := range mapsOf(id) {
			held["map"][used] = true
		}
	}
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range children {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				held.add(heldBy(child))
			}
		}
	}
	return held
}

func (o kernelObjects) add(more kernelObjects) {
	for kind, ids := range more {
		for id := range ids {
			o[kind][id] = true
		}
	}
}

func mapsOf(program uint32) (ids []uint32) {
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(program))
	if err != nil {
		return nil
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		return nil
	}
	used, _ := info.MapIDs()
	for _, id := range used {
		ids = append(ids, uint32(id))
	}
	return ids
}

// leftNothing checks that none of the recorder's is in the kernel. It takes its time to let go.
func (k *killing) leftNothing(ofRecorder func(kind string, id uint32) bool) {
	k.Helper()
	var left []string
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		left = left[:0]
		for kind, objects := range inKernel(k.T) {
			for id := range objects {
				if ofRecorder(kind, id) {
					left = append(left, fmt.Sprint(kind, " ", id))
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
	k.Errorf("left in the kernel: %v", left)
}
