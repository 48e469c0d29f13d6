package elffile

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// patience is how long to wait for a file system. It may be served by the target, or by a machine that is gone.
const patience = 2 * time.Second

// piece is how many bytes are read at a time: a piece has to arrive within patience.
const piece = 1 << 20

// Await does something that a file system may delay, and gives up in time. A result that comes later is closed. Its
// thread waits until then; if too many threads wait, nothing is started.
func Await[T any](do func() (T, error)) (T, error) { return AwaitOn(0, do) }

// AwaitOn is Await for work on a known device: after one failure, the device is not tried again until it answers.
func AwaitOn[T any](on Device, do func() (T, error)) (T, error) {
	type result struct {
		is  T
		err error
	}
	var none T
	this, err := pending.begin(on)
	if err != nil {
		return none, err
	}
	came := make(chan result, 1)
	go func() {
		is, err := do()
		if pending.end(this) {
			came <- result{is, err}
			return
		}
		late := pending.unclosed()
		if open, ok := any(is).(io.Closer); ok && err == nil {
			late = append(late, open)
		}
		for _, open := range late {
			open.Close()
		}
		pending.leave(this)
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case r := <-came:
		return r.is, r.err
	case <-limit.C:
	}
	if pending.giveUp(this) {
		return none, ErrStalled
	}
	r := <-came
	return r.is, r.err
}

// Patient is a file whose operations may be delayed. After one delay beyond the limit it is not read again. Data of a
// read that was given up is discarded.
type Patient struct {
	from    io.ReaderAt
	on      Device
	stalled atomic.Bool
}

// NewPatient returns the Patient of a file; closing it closes the file.
func NewPatient(from io.ReaderAt) *Patient {
	switch from := from.(type) {
	case *Patient:
		return from
	case *os.File:
		return &Patient{from: from, on: deviceOf(from)}
	}
	return &Patient{from: from}
}

// OpenPatient opens a file that may be on any file system.
func OpenPatient(name string) (*Patient, error) {
	on, err := Await(func() (Device, error) { return deviceAt(name), nil })
	if err != nil {
		return nil, err
	}
	return AwaitOn(on, func() (*Patient, error) {
		file, err := procfs.Open(name)
		if err != nil {
			return nil, err
		}
		return &Patient{from: file, on: on}, nil
	})
}

// Ask asks the kernel about a file.
func Ask[T any](p *Patient, do func(fd int) (T, error)) (T, error) {
	file, ok := p.from.(*os.File)
	if !ok {
		var none T
		return none, errors.ErrUnsupported
	}
	return AwaitOn(p.on, func() (T, error) { return do(int(file.Fd())) })
}

// ReadAt implements io.ReaderAt.
func (p *Patient) ReadAt(into []byte, at int64) (int, error) {
	total := 0
	for {
		part := into[total:min(len(into), total+piece)]
		n, err := p.read(part, at+int64(total))
		total += n
		if err != nil || total == len(into) {
			return total, err
		}
	}
}

func (p *Patient) read(into []byte, at int64) (int, error) {
	if p.stalled.Load() {
		return 0, ErrStalled
	}
	type part struct {
		data []byte
		err  error
	}
	size := len(into)
	got, err := AwaitOn(p.on, func() (part, error) {
		data := make([]byte, size)
		n, err := p.from.ReadAt(data, at)
		return part{data[:n], err}, nil
	})
	if err != nil {
		p.stalled.Store(errors.Is(err, ErrStalled))
		return 0, err
	}
	return copy(into, got.data), got.err
}

// Close implements io.Closer. Even closing may be delayed by a file system.
func (p *Patient) Close() error {
	open, ok := p.from.(io.Closer)
	if !ok {
		return nil
	}
	_, err := AwaitOn(p.on, func() (struct{}, error) { return struct{}{}, open.Close() })
	if errors.Is(err, ErrStill) || errors.Is(err, ErrCrowded) {
		pending.closeLater(open)
	}
	return err
}
