//go:build linux && (amd64 || arm64)

package unwind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"time"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	profiled "go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/tracer"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// examiner lets the profiler examine processes. It replaces the profiler's own loop (Tracer.StartPIDEventProcessor).
// That loop gives the profiler any mapped file, and the profiler trusts the content: a file of 48 KB can make it use
// unlimited memory, or fail together with the recorder. The examiner passes only sound files, from file systems that
// answer.
type examiner struct {
	manager *processmanager.ProcessManager
	wanted  <-chan libpf.PIDTID
	checked map[fileVersion]error
	refused func(problem)
}

// fileVersion identifies a file in its current state.
type fileVersion struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec
}

// maxChecked is how many files are remembered as checked.
const maxChecked = 4096

// newExaminer takes from the profiler what its own loop would use; these fields are not exported.
func newExaminer(t *tracer.Tracer, refused func(problem)) (*examiner, error) {
	manager, err := fieldOf[*processmanager.ProcessManager](t, "processManager")
	if err != nil {
		return nil, err
	}
	wanted, err := fieldOf[chan libpf.PIDTID](t, "pidEvents")
	if err != nil {
		return nil, err
	}
	return &examiner{manager, wanted, map[fileVersion]error{}, refused}, nil
}

// fieldOf returns an unexported field of the profiler.
func fieldOf[T any](of *tracer.Tracer, name string) (T, error) {
	field := reflect.ValueOf(of).Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		var none T
		return none, fmt.Errorf("the stack profiler has no %s: it is of another version than this was written for", name)
	}
	return *(*T)(unsafe.Pointer(field.UnsafeAddr())), nil
}

// run examines processes on request.
func (e *examiner) run(ctx context.Context) {
	clean := time.NewTicker(cleanEvery)
	defer clean.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-e.wanted:
			survive(e.refused, func() {
				e.manager.SynchronizeProcess(&examined{see(id.PID(), id.TID()), e})
			})
		case <-clean.C:
			e.manager.CleanupPIDs()
		}
	}
}

// survive calls the profiler and reports if it fails: because of a file's content, or because a file was truncated
// while it was mapped.
func survive(tell func(problem), do func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			tell(problem(fmt.Sprintf("the stack profiler failed over a process: %v", r)))
		}
	}()
	do()
}

// examined is a process for which the profiler gets only sound files.
type examined struct {
	profiled.Process
	by *examiner
}

// OpenMappingFile implements profiled.Process.
func (p *examined) OpenMappingFile(m *profiled.RawMapping) (profiled.ReadAtCloser, error) {
	opened, err := ask(p.by, m, func() (profiled.ReadAtCloser, error) { return p.Process.OpenMappingFile(m) })
	if file, ok := opened.(*os.File); ok && err == nil {
		return p.by.admit(file)
	}
	return opened, err
}

// GetMappingFileLastModified implements profiled.Process.
func (p *examined) GetMappingFileLastModified(m *profiled.RawMapping) int64 {
	at, _ := ask(p.by, m, func() (int64, error) { return p.Process.GetMappingFileLastModified(m), nil })
	return at
}

// CalculateMappingFileID implements profiled.Process.
func (p *examined) CalculateMappingFileID(m *profiled.RawMapping) (libpf.FileID, error) {
	return ask(p.by, m, func() (libpf.FileID, error) { return p.Process.CalculateMappingFileID(m) })
}

// ask asks something about a file that a process has mapped, unless its file system does not answer.
func ask[T any](e *examiner, m *profiled.RawMapping, do func() (T, error)) (T, error) {
	is, err := elffile.AwaitOn(elffile.Device(m.Device), do)
	return is, e.tellSilent(err)
}

// tellSilent reports a file that was not delivered.
func (e *examiner) tellSilent(err error) error {
	switch {
	case errors.Is(err, elffile.ErrStill): // already reported
	case errors.Is(err, elffile.ErrStalled):
		e.refused(problemStalled)
	case errors.Is(err, elffile.ErrCrowded):
		e.refused(problem("stacks do not lead through a file of code: " + elffile.ErrCrowded.Error()))
	}
	return err
}

// OpenELF implements pfelf.ELFOpener: separate files with debug information are not searched for.
func (p *examined) OpenELF(string) (*pfelf.File, error) { return nil, os.ErrNotExist }

// admit passes a file to the profiler if it is sound. If its file system may not answer, the file is read and not
// mapped.
func (e *examiner) admit(file *os.File) (profiled.ReadAtCloser, error) {
	patient := elffile.NewPatient(file)
	version, err := elffile.Ask(patient, versionOf)
	if err == nil {
		err = e.check(patient, version)
	}
	if err != nil {
		return nil, errors.Join(e.tellSilent(err), patient.Close())
	}
	if answers, err := elffile.Ask(patient, answers); err == nil && answers {
		return file, nil
	}
	return patient, nil
}

// check fails if the profiler must not be given a file.
func (e *examiner) check(file *elffile.Patient, version fileVersion) error {
	verdict, known := e.checked[version]
	if known {
		return verdict
	}
	verdict = elffile.CheckUnwinding(file)
	if !elffile.Unanswered(verdict) && len(e.checked) < maxChecked {
		e.checked[version] = verdict
	}
	if errors.Is(verdict, elffile.ErrTooLarge) || errors.Is(verdict, elffile.ErrUnsound) {
		e.refused(problem(fmt.Sprintf("stacks do not lead through a file of code, which is not read: %v", verdict)))
	}
	return verdict
}

func versionOf(fd int) (fileVersion, error) {
	var s unix.Stat_t
	err := unix.Fstat(fd, &s)
	return fileVersion{s.Dev, s.Ino, s.Size, s.Ctim}, err
}

// answers reports whether a file is on a file system that the kernel implements itself, without waiting for a program
// or another machine.
func answers(fd int) (bool, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return false, err
	}
	switch uint64(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.RAMFS_MAGIC:
		return true, nil
	}
	return false, nil
}
