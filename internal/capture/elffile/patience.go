package elffile

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// patience is how long it is waited for a file system. It may be served by the target, or by a machine that is gone.
const patience = 2 * time.Second

// piece is how much is read at a time, in bytes: it has to come within patience.
const piece = 1 << 20

// ErrStalled says that a file system gave no answer in time.
var ErrStalled = errors.New("its file system does not answer")

// Await does what a file system may keep waiting, and gives up on it in time. What comes later is closed. A thread
// waits until then: the kernel ends no such wait but with the process.
func Await[T any](do func() (T, error)) (T, error) {
	type result struct {
		is  T
		err error
	}
	came := make(chan result, 1)
	go func() {
		is, err := do()
		came <- result{is, err}
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case r := <-came:
		return r.is, r.err
	case <-limit.C:
	}
	go func() {
		if late := <-came; late.err == nil {
			if open, ok := any(late.is).(io.Closer); ok {
				open.Close()
			}
		}
	}()
	var none T
	return none, ErrStalled
}

// Patient reads from what may be kept waiting; once it was, it is not asked again. What a read that was given up
// still brings reaches nobody.
type Patient struct {
	From    io.ReaderAt
	stalled atomic.Bool
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
	got, err := Await(func() (part, error) {
		data := make([]byte, size)
		n, err := p.From.ReadAt(data, at)
		return part{data[:n], err}, nil
	})
	if err != nil {
		p.stalled.Store(true)
		return 0, err
	}
	return copy(into, got.data), got.err
}
