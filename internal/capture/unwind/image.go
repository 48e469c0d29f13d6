//go:build linux && (amd64 || arm64)

package unwind

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// image is an executable or library as mapped into a process's memory.
type image struct {
	file *elffile.File
	bias uint64 // address in memory minus that in the file
}

// openImage opens the first file that a process has mapped and whose path matches; libraries take precedence over
// executables.
func openImage(pid int, name *regexp.Regexp) (*image, error) {
	m, err := findMapping(pid, name)
	if err != nil {
		return nil, err
	}
	// The first way also opens deleted files; the second needs fewer rights.
	file, err := elffile.Open(fmt.Sprintf("/proc/%d/map_files/%s", pid, m.span))
	if err != nil {
		file, err = elffile.Open(fmt.Sprintf("/proc/%d/root%s", pid, m.path))
	}
	if err != nil {
		return nil, fmt.Errorf("open %s of process %d: %w", path.Base(m.path), pid, err)
	}
	out := &image{file: file}
	for _, p := range file.Progs {
		if page := uint64(os.Getpagesize() - 1); p.Type == elf.PT_LOAD && p.Off&^page == m.offset {
			out.bias = m.start - p.Vaddr&^page
			break
		}
	}
	return out, nil
}

// Close closes the file.
func (i *image) Close() error { return i.file.Close() }

type mapping struct {
	span          string // as in /proc
	start, offset uint64
	path          string
}

func findMapping(pid int, name *regexp.Regexp) (mapping, error) {
	file, err := procfs.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return mapping{}, err
	}
	defer file.Close()
	var found mapping
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || !name.MatchString(fields[5]) {
			continue
		}
		library := strings.Contains(path.Base(fields[5]), ".so")
		if found.span != "" && !library {
			continue
		}
		start, _, _ := strings.Cut(fields[0], "-")
		m := mapping{span: fields[0], path: fields[5]}
		var bad [2]error
		m.start, bad[0] = strconv.ParseUint(start, 16, 64)
		m.offset, bad[1] = strconv.ParseUint(fields[2], 16, 64)
		if err := cmp.Or(bad[0], bad[1]); err != nil {
			return mapping{}, fmt.Errorf("read the mappings of process %d: %w", pid, err)
		}
		found = m
		if library {
			break
		}
	}
	if found.span == "" {
		return mapping{}, fmt.Errorf("process %d has mapped no file called %s", pid, name)
	}
	return found, nil
}
