package target

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// mapping is one line of /proc/PID/maps.
type mapping struct {
	from, to, offset uint64
	perms, name      string
}

// parseMaps reads the text of /proc/PID/maps; lines that are not understood are skipped.
func parseMaps(text string) []mapping {
	var all []mapping
	for line := range strings.Lines(text) {
		// FROM-TO PERMS OFFSET DEVICE INODE      NAME
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		var m mapping
		var err1, err2, err3 error
		m.from, err1 = strconv.ParseUint(from, 16, 64)
		m.to, err2 = strconv.ParseUint(to, 16, 64)
		m.offset, err3 = strconv.ParseUint(fields[2], 16, 64)
		m.perms, m.name = fields[1], strings.Join(fields[5:], " ")
		if err1 == nil && err2 == nil && err3 == nil {
			all = append(all, m)
		}
	}
	return all
}

// private reports whether a mapping can contain memory that a program allocated.
func (m mapping) private() bool {
	return strings.HasPrefix(m.perms, "rw") && (m.name == "" || m.name == "[heap]" || strings.HasPrefix(m.name, "[anon"))
}

// memory reads another process's memory while it runs. It does not touch pages that were never used.
type memory struct{ mem, pagemap *os.File }

func openMemory(pid int) (memory, error) {
	mem, err := procfs.Open(procPath(pid, "mem"))
	if err != nil {
		return memory{}, procError(err)
	}
	pagemap, err := procfs.Open(procPath(pid, "pagemap"))
	if err != nil {
		mem.Close()
		return memory{}, procError(err)
	}
	return memory{mem, pagemap}, nil
}

func (m memory) close() {
	m.mem.Close()
	m.pagemap.Close()
}

// word reads 8 bytes; 0 if nothing is mapped there.
func (m memory) word(at uint64) uint64 {
	var b [8]byte
	if n, _ := m.mem.ReadAt(b[:], int64(at)); n < len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

const (
	pageSize  = 4096
	blockSize = 1 << 20 // of one read, in bytes
)

// extent is a half-open range of addresses.
type extent struct{ from, to uint64 }

// search calls found with the address of every aligned 8-byte word in span that equals value. It returns how many
// bytes it read; stop ends it early.
func (m memory) search(span extent, value uint64, found func(at uint64), stop func() bool) int64 {
	var pattern [8]byte
	binary.LittleEndian.PutUint64(pattern[:], value)
	block := make([]byte, min(blockSize, span.to-span.from))
	entries := make([]byte, len(block)/pageSize*8)
	var scanned int64
	for at := span.from; at < span.to && !stop(); at += blockSize {
		n := min(blockSize, span.to-at)
		for run := range m.resident(at, n, entries) {
			size, _ := m.mem.ReadAt(block[:run.to-run.from], int64(run.from))
			scanned += int64(size)
			for i := 0; ; {
				next := bytes.Index(block[i:size], pattern[:])
				if next < 0 {
					break
				}
				if i += next; i%8 == 0 {
					found(run.from + uint64(i))
				}
				i++
			}
		}
	}
	return scanned
}

// resident yields the runs of pages in [at, at+n) that are in memory or swapped out. It uses entries as scratch
// space, 8 bytes per page.
func (m memory) resident(at, n uint64, entries []byte) func(yield func(mapping) bool) {
	return func(yield func(mapping) bool) {
		size, _ := m.pagemap.ReadAt(entries[:n/pageSize*8], int64(at/pageSize*8))
		const present, swapped = 1 << 63, 1 << 62
		var run mapping
		for i := 0; i+8 <= size; i += 8 {
			page := at + uint64(i)/8*pageSize
			if binary.LittleEndian.Uint64(entries[i:])&(present|swapped) == 0 {
				continue
			}
			if run.to != page {
				if run.to > run.from && !yield(run) {
					return
				}
				run.from = page
			}
			run.to = page + pageSize
		}
		if run.to > run.from {
			yield(run)
		}
	}
}
