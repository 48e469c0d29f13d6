//go:build linux && (amd64 || arm64)

package unwind

import (
	"time"
	"unsafe"

	"github.com/cilium/ebpf/ringbuf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// unanswered is the time after which a mark without a stack is given up.
const unanswered = 2 * time.Second

// marks matches stacks with the marks that announced them.
type marks struct {
	reader  *ringbuf.Reader
	record  ringbuf.Record
	pending map[uint32][]momentsStackMark // by tid, in order of time
	known   map[uint32]bool               // processes from which a stack has arrived
	failed  map[uint32]int                // by process: stacks since the last success that led through unknown code
	skipped []momentsStackMark            // marks that were followed by another stack of the thread
}

func newMarks() *marks {
	return &marks{
		pending: map[uint32][]momentsStackMark{}, known: map[uint32]bool{}, failed: map[uint32]int{},
	}
}

func (m *marks) open(r *ringbuf.Reader) {
	m.reader = r
	m.reader.SetDeadline(time.Unix(1, 0)) // never wait
}

func (m *marks) close() error {
	if m.reader == nil {
		return nil
	}
	return m.reader.Close()
}

// read reads all available marks. A mark is available before its stack is.
func (m *marks) read() {
	for m.reader.ReadInto(&m.record) == nil {
		if len(m.record.RawSample) < int(unsafe.Sizeof(momentsStackMark{})) {
			continue
		}
		mark := *(*momentsStackMark)(unsafe.Pointer(unsafe.SliceData(m.record.RawSample)))
		m.pending[mark.Tid] = append(m.pending[mark.Tid], mark)
	}
}

// take finds the mark of a stack that was walked at the given time: the thread's last mark before that time. Earlier
// marks will never be answered.
func (m *marks) take(pid, tid libpf.PID, walked int64) (momentsStackMark, bool) {
	list := m.pending[uint32(tid)]
	last := -1
	for i := range list {
		if int64(list[i].Ts) <= walked {
			last = i
		}
	}
	if last < 0 || list[last].Tgid != uint32(pid) {
		return momentsStackMark{}, false
	}
	found := list[last]
	m.skipped = append(m.skipped, list[:last]...)
	m.keep(uint32(tid), list[last+1:])
	return found, true
}

func (m *marks) keep(tid uint32, rest []momentsStackMark) {
	if len(rest) == 0 {
		delete(m.pending, tid)
		return
	}
	m.pending[tid] = rest
}

// ready records that a complete stack of the process has been walked.
func (m *marks) ready(tgid uint32) {
	m.known[tgid] = true
	delete(m.failed, tgid)
}

// forget marks a process as unknown to the profiler.
func (m *marks) forget(tgid uint32) {
	delete(m.known, tgid)
	delete(m.failed, tgid)
}

// any reports whether a stack is outstanding of a process that the profiler knows.
func (m *marks) any() bool {
	for _, list := range m.pending {
		if m.known[list[0].Tgid] {
			return true
		}
	}
	return false
}

// expire drops the marks that are older than the given time, and those that were skipped. Stacks requested before the
// profiler knew the process were never walked; the others are lost.
func (m *marks) expire(after time.Duration) (lost []Lost, early int) {
	until := uint64(monotonic() - after.Nanoseconds())
	gone := m.skipped
	m.skipped = nil
	for tid, list := range m.pending {
		n := 0
		for n < len(list) && list[n].Ts < until {
			n++
		}
		gone = append(gone, list[:n]...)
		m.keep(tid, list[n:])
	}
	perCPU := map[uint32]*Lost{}
	for _, mark := range gone {
		if !m.known[mark.Tgid] {
			early++
			continue
		}
		l := perCPU[mark.Cpu]
		if l == nil {
			l = &Lost{CPU: int64(mark.Cpu), First: recording.Time(mark.Ts)}
			perCPU[mark.Cpu] = l
		}
		l.Count++
		l.First, l.Last = min(l.First, recording.Time(mark.Ts)), max(l.Last, recording.Time(mark.Ts))
	}
	for _, l := range perCPU {
		lost = append(lost, *l)
	}
	return lost, early
}

// monotonic reads the clock of the marks, in ns.
func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
