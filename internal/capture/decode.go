//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// decoder turns samples of the ring into facts. It assigns the ids of a recording. It declares each thing before its
// first use, with the time at which the thing began; readers of a recording sort by time.
type decoder struct {
	describe  func(pid int) (target.Process, error)
	processes map[uint32]*process // by tgid, while they live
	threads   map[threadKey]*thread
	latest    map[uint32]*thread // by tid
	acted     *thread            // the thread found last: most events belong to the same thread as the previous event
	actedKey  threadKey
	conns     map[uint64]*conn
	paths     map[uint64]string // of Unix sockets, until the connection is reported
	closed    []*conn           // in order of closing, to be forgotten later
	left      map[uint64]*conn  // connections as they were when recording paused
	paused    bool
	notTCP    bool // connections of other kinds were reported
	lookups   lookups
	routes    protocol.Routes
	files     map[fileKey]*recording.File
	crowded   bool // the file that represents all further ones was declared

	lastMapping mappedAt
	plain       plaintext
	execs       []uint32 // processes that run a new program and have to be described
	ended       []uint32 // processes that have ended: the session can drop its state of them
	last        struct {
		process recording.ProcessID
		thread  recording.ThreadID
		conn    recording.ConnID
	}
	out   []recording.Event
	at    recording.Time // of the sample being decoded
	now   recording.Time // of the newest sample
	count int64          // of samples
	live  liveStats
	noted map[string]*recording.Missing

	golang   goDecoder
	python   pythonDecoder
	node     nodeSpent
	programs programs
}

// nodeSpent are Node processes of which something is no longer reported.
type nodeSpent struct {
	promisesSpent []uint32 // promises
	workSpent     []uint32 // callbacks for thread pool work
}

func newDecoder(describe func(int) (target.Process, error)) *decoder {
	return &decoder{
		describe:  describe,
		processes: map[uint32]*process{},
		threads:   map[threadKey]*thread{},
		latest:    map[uint32]*thread{},
		conns:     map[uint64]*conn{},
		paths:     map[uint64]string{},
		lookups:   lookups{seen: map[lookupKey]recording.Time{}},
		noted:     map[string]*recording.Missing{},
		files:     map[fileKey]*recording.File{},
	}
}

// emit appends a fact.
func (d *decoder) emit(t recording.Time, f recording.Fact) {
	d.out = append(d.out, recording.Event{Time: t, Fact: f})
}

// maxNoted is how many different reasons are kept. The number is bounded because some contain names that a target
// chooses.
const maxNoted = 256

// note counts what could not be observed; the facts are written at the end of the recording.
func (d *decoder) note(missing []recording.Missing) {
	for _, m := range missing {
		d.notedAs(m).Count += m.Count
	}
}

// noteOnce is note for conditions that are detected repeatedly.
func (d *decoder) noteOnce(missing []recording.Missing) {
	for _, m := range missing {
		if noted := d.notedAs(m); noted.Count == 0 {
			noted.Count = m.Count
		}
	}
}

// notedAs returns the fact in which a reason is counted.
func (d *decoder) notedAs(m recording.Missing) *recording.Missing {
	if d.noted[m.What+m.Why] == nil && len(d.noted) >= maxNoted {
		m.Why = "there are more reasons than are kept apart"
	}
	noted := d.noted[m.What+m.Why]
	if noted == nil {
		m.Count = 0
		noted = &m
		d.noted[m.What+m.Why] = noted
	}
	return noted
}

// sample decodes one sample of the ring.
func (d *decoder) sample(b []byte) {
	h := view[probesHead](b)
	d.count++
	d.at = recording.Time(h.Ts)
	d.now = max(d.now, d.at)
	switch probesEventType(h.Type) {
	case probesEventTypeEVENT_OFF:
		d.off(view[probesOffEvent](b))
	case probesEventTypeEVENT_FORK, probesEventTypeEVENT_EXEC, probesEventTypeEVENT_EXIT, probesEventTypeEVENT_RENAME:
		d.task(view[probesTaskEvent](b))
	case probesEventTypeEVENT_LISTEN:
		d.listen(view[probesListenEvent](b))
	case probesEventTypeEVENT_BACKLOG:
		d.backlog(view[probesListenEvent](b))
	case probesEventTypeEVENT_PATH, probesEventTypeEVENT_CONN, probesEventTypeEVENT_ESTABLISHED, probesEventTypeEVENT_CLOSED:
		d.connEvent(h, b)
	case probesEventTypeEVENT_CHUNK:
		e := view[probesChunkEvent](b)
		d.chunk(e, tail[probesChunkEvent](b, e.DataLen))
	case probesEventTypeEVENT_DATAGRAM:
		e := view[probesDatagramEvent](b)
		d.datagram(e, tail[probesDatagramEvent](b, e.DataLen))
	case probesEventTypeEVENT_SEND:
		e := view[probesSendEvent](b)
		d.send(e, tail[probesSendEvent](b, e.DataLen))
	case probesEventType(storageStorageEventTypeEVENT_MAPPING):
		d.mapping(h, view[storageMappingEvent](b))
	case probesEventType(storageStorageEventTypeEVENT_MEMORY_WAIT):
		d.memoryWait(h, view[storageMemoryWaitEvent](b))
	case probesEventType(storageStorageEventTypeEVENT_SYNC):
		decodeSync(d, h, view[storageSyncEvent](b))
	case probesEventTypeEVENT_FILE:
		d.file(view[probesFileEvent](b))
	case probesEventTypeEVENT_CONTEXT:
		d.context(h.Tgid, &view[probesContextEvent](b).Ids)
	case probesEventTypeEVENT_LATE:
		d.late(view[probesLateEvent](b))
	case probesEventTypeEVENT_RETRANSMIT:
		d.retransmitted(view[probesRetransmitEvent](b))
	case probesEventTypeEVENT_BOUNDARY:
		d.boundary(view[probesBoundaryEvent](b))
	case probesEventType(tlsProbesTlsEventTypeEVENT_TLS_WRITE):
		if e := view[tlsProbesTlsWriteEvent](b); !d.paused { // while paused, the corresponding write is not seen
			d.sealing(h, e, tail[tlsProbesTlsWriteEvent](b, e.DataLen))
		}
	case probesEventType(tlsProbesTlsEventTypeEVENT_TLS_SPENT):
		d.plain.spent = append(d.plain.spent, h.Tgid)
	case probesEventType(pythonPythonEventTypeEVENT_CONTEXTS_SPENT):
		d.python.spent = append(d.python.spent, h.Tgid)
	case probesEventType(nodeNodeEventTypeEVENT_PROMISES_SPENT), probesEventType(nodeNodeEventTypeEVENT_WORK_SPENT):
		d.nodeSpent(h)
	case probesEventType(queuesQueueEventTypeEVENT_TAKEN):
		d.taken(h, view[queuesTakenEvent](b))
	case probesEventTypeEVENT_SAMPLE:
		e := view[probesSampleEvent](b)
		d.emit(d.at, &recording.Sample{Thread: d.actor(&e.H), Goroutine: recording.GoroutineID(e.Goid)})
	default:
		d.goEvent(h, b)
	}
}

// takeEnded returns the ended processes, and clears the list.
func (d *decoder) takeEnded() []uint32 {
	out := d.ended
	d.ended = nil
	return out
}

// takeExecs returns the processes that run a new program, and clears the list.
func (d *decoder) takeExecs() []uint32 {
	out := d.execs
	d.execs = nil
	return out
}
