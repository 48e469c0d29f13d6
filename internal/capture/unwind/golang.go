//go:build linux && (amd64 || arm64)

package unwind

import (
	"unique"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"github.com/getdwell/dwell/recording"
)

// GoCode returns the functions that contain an address of a Go program, as linked, the innermost inlined one first.
// The profiler reports only the outermost function together with the line of the innermost, so that file and line may
// not match.
type GoCode func(address uint64) []recording.Frame

// Go sets the function that names the functions of a process.
func (u *Unwinder) Go(pid int, code GoCode) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stacks.golang[libpf.PID(pid)] = code
	clear(u.stacks.raw)
}

// goFrames returns the frames that one frame of the profiler represents, the innermost first; nil if it is used
// unchanged.
func (s *stacks) goFrames(pid libpf.PID, h unique.Handle[libpf.Frame]) []recording.FrameID {
	if ids, ok := s.inlined[h]; ok {
		return ids
	}
	f := h.Value()
	code := s.golang[pid]
	if f.Type != libpf.GoFrame || code == nil {
		return nil
	}
	var ids []recording.FrameID
	for _, fact := range code(uint64(f.AddressOrLineno)) {
		id, p := s.declare(fact)
		if p != problemNone || fact.Function == "" {
			return nil
		}
		ids = append(ids, id)
	}
	if len(s.inlined) >= maxFrames {
		clear(s.inlined)
	}
	s.inlined[h] = ids
	return ids
}
