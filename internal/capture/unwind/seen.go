//go:build linux && (amd64 || arm64)

package unwind

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	profiled "go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/remotememory"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// seen is a process accessed through package procfs, because the profiler needs rights that this process drops.
type seen struct{ profiled.Process }

func see(pid, tid libpf.PID) seen { return seen{profiled.New(pid, tid)} }

func (s seen) path(name string) string { return fmt.Sprintf("/proc/%d/%s", s.PID(), name) }

// GetExe implements profiled.Process.
func (s seen) GetExe() (libpf.String, error) {
	exe, err := procfs.Readlink(s.path("exe"))
	if err != nil {
		return libpf.NullString, err
	}
	return libpf.Intern(exe), nil
}

// GetProcessMeta implements profiled.Process: only this part of it is used here.
func (s seen) GetProcessMeta(profiled.MetaConfig) profiled.ProcessMeta {
	exe, _ := s.GetExe()
	return profiled.ProcessMeta{Executable: exe}
}

// GetRemoteMemory implements profiled.Process.
func (s seen) GetRemoteMemory() remotememory.RemoteMemory {
	return remotememory.RemoteMemory{ReaderAt: procfs.Memory{PID: int(s.PID())}}
}

// IterateMappings implements profiled.Process. If the main thread has ended, the profiler's own way is used, which
// works as long as this process has its rights.
func (s seen) IterateMappings(do func(m profiled.RawMapping) bool) (bad uint32, err error) {
	file, err := procfs.Open(s.path("maps"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	any := false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		m, ok := rawMapping(lines.Text())
		if !ok {
			bad++
			continue
		}
		any = true
		if wanted(&m) && !do(m) {
			return bad, profiled.ErrCallbackStopped
		}
	}
	if err := lines.Err(); err != nil || any {
		return bad, err
	}
	return s.Process.IterateMappings(do)
}

// rawMapping reads a line of /proc/PID/maps as the profiler does.
func rawMapping(line string) (m profiled.RawMapping, ok bool) {
	// FROM-TO PERMS OFFSET MAJOR:MINOR INODE      NAME
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 5 {
		return m, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	major, minor, _ := strings.Cut(fields[3], ":")
	var n [5]uint64
	for i, text := range []string{from, to, fields[2], major, minor} {
		var err error
		if n[i], err = strconv.ParseUint(text, 16, 64); err != nil {
			return m, false
		}
	}
	inode, err := strconv.ParseUint(fields[4], 10, 64)
	if err != nil || n[1] < n[0] {
		return m, false
	}
	m.Vaddr, m.Length, m.FileOffset, m.Device, m.Inode = n[0], n[1]-n[0], n[2], n[3]<<8+n[4], inode
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if i < len(fields[1]) && fields[1][i] == "rwx"[i] {
			m.Flags |= flag
		}
	}
	if len(fields) == 6 {
		m.Path = strings.TrimSuffix(strings.TrimLeft(fields[5], " "), " (deleted)")
	}
	switch m.Path {
	case "[vdso]":
		const vdsoInode = 50 // the profiler's own
		m.Path, m.Device, m.Inode = profiled.VdsoPathName, 0, vdsoInode
	case "/dev/zero": // memory of some just-in-time compilers
		m.Path = ""
	}
	return m, true
}

// wanted excludes mappings that are neither code nor data.
func wanted(m *profiled.RawMapping) bool {
	return m.Flags&(elf.PF_R|elf.PF_X) != 0 && (m.Inode != 0 || m.Path == "" || strings.HasPrefix(m.Path, "[anon:"))
}

func (s seen) file(m *profiled.RawMapping) (*os.File, error) {
	if !m.IsFileBacked() {
		return nil, errors.New("no file is mapped there")
	}
	return procfs.Open(s.path(fmt.Sprintf("map_files/%x-%x", m.Vaddr, m.Vaddr+m.Length)))
}

// OpenMappingFile implements profiled.Process.
func (s seen) OpenMappingFile(m *profiled.RawMapping) (profiled.ReadAtCloser, error) {
	file, err := s.file(m)
	if errors.Is(err, fs.ErrNotExist) {
		return s.Process.OpenMappingFile(m) // its main thread may have ended
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// GetMappingFileLastModified implements profiled.Process.
func (s seen) GetMappingFileLastModified(m *profiled.RawMapping) int64 {
	file, err := s.file(m)
	if err != nil {
		return 0
	}
	defer file.Close()
	var st unix.Stat_t
	if unix.Fstat(int(file.Fd()), &st) != nil {
		return 0
	}
	return st.Mtim.Nano()
}

// CalculateMappingFileID implements profiled.Process.
func (s seen) CalculateMappingFileID(m *profiled.RawMapping) (libpf.FileID, error) {
	if m.IsVDSO() {
		code := make([]byte, min(m.Length, maxVDSO))
		if _, err := s.GetRemoteMemory().ReadAt(code, int64(m.Vaddr)); err != nil {
			return libpf.FileID{}, err
		}
		return libpf.FileIDFromExecutableReader(bytes.NewReader(code))
	}
	file, err := s.file(m)
	if err != nil {
		return libpf.FileID{}, err
	}
	defer file.Close()
	return libpf.FileIDFromExecutableReader(file)
}

// maxVDSO bounds how many bytes of the vDSO are read.
const maxVDSO = 1 << 20
