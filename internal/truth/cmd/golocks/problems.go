package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

// problems are the ways to wait; each returns what serves a request.
func problems() map[string]func(*service) func(*visit) {
	return map[string]func(*service) func(*visit){
		"call": func(*service) func(*visit) { return new(tokens).serve },
		"cpu":  func(*service) func(*visit) { return new(ledger).serve },
		"file": newJournal,
		"rw":   newSettings,
		"pool": newPool,
	}
}

// tokens has a lock held over a call. Fixed: callers ask side by side.
type tokens struct{ mu sync.Mutex }

func (t *tokens) serve(v *visit) {
	if v.it.fixed {
		t.renew(v)
		return
	}
	v.asks()
	t.mu.Lock()
	v.has()
	t.renew(v)
	v.leaves()
	t.mu.Unlock()
	v.log()
}

func (t *tokens) renew(v *visit) { v.query() }

// query asks the upstream.
func (v *visit) query() {
	req, err := http.NewRequest(http.MethodGet, "http://"+v.it.upstream+"/answer?delay="+strconv.Itoa(v.delay), nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("X-Request-Id", strconv.Itoa(v.id))
	res, err := v.it.client.Do(req)
	if err != nil {
		log.Print(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
}

// ledger has a lock held over computing. Fixed: only what is shared is under it.
type ledger struct {
	mu  sync.Mutex
	sum uint64
}

func (l *ledger) serve(v *visit) {
	sum := uint64(0)
	if v.it.fixed {
		sum = l.checksum(v.cpu)
	}
	v.asks()
	l.mu.Lock()
	v.has()
	if !v.it.fixed {
		sum = l.checksum(v.cpu)
	}
	l.sum += sum
	v.leaves()
	l.mu.Unlock()
	v.log()
}

//go:noinline
func (l *ledger) checksum(us int) (sum uint64) {
	for until := truth.Now() + int64(us)*1000; truth.Now() < until; {
		for i := range uint64(1000) {
			sum = sum*31 + i
		}
	}
	return sum
}

// journal has a lock held while a file is written to the disk. Fixed: it is left to the
// kernel when that is.
type journal struct {
	mu   sync.Mutex
	file *os.File
	page [1 << 20]byte // so much that a fast disk, too, is waited for longer than the kernel computes
}

func newJournal(it *service) func(*visit) {
	file, err := os.CreateTemp("", "golocks-journal-")
	if err != nil {
		log.Fatal(err)
	}
	// It is gone when the service is.
	_ = os.Remove(file.Name())
	return (&journal{file: file}).serve
}

func (j *journal) serve(v *visit) {
	v.asks()
	j.mu.Lock()
	v.has()
	j.store(v)
	v.leaves()
	j.mu.Unlock()
	v.log()
}

func (j *journal) store(v *visit) {
	if _, err := j.file.WriteAt(j.page[:], 0); err != nil {
		log.Print(err)
	}
	if v.it.fixed {
		return
	}
	if err := j.file.Sync(); err != nil {
		log.Print(err)
	}
}

// settings are read by all requests; one in eight fetches them anew and keeps the readers
// out meanwhile. Fixed: they are fetched beside the requests, and readers kept out only to
// store them.
type settings struct {
	mu    sync.RWMutex
	count atomic.Int64
	value int
}

func newSettings(it *service) func(*visit) {
	s := new(settings)
	if it.fixed {
		go func() {
			for range time.Tick(50 * time.Millisecond) {
				s.refresh(&visit{it: it, id: -1, delay: 8000})
			}
		}()
	}
	return s.serve
}

func (s *settings) serve(v *visit) {
	if s.count.Add(1)%8 == 0 && !v.it.fixed {
		s.refresh(v)
		return
	}
	v.asks()
	s.mu.RLock()
	v.has()
	_ = s.value
	v.leaves()
	s.mu.RUnlock()
	v.log()
}

func (s *settings) refresh(v *visit) {
	if v.it.fixed {
		v.query()
	}
	v.asks()
	s.mu.Lock()
	v.has()
	if !v.it.fixed {
		v.query()
	}
	s.value++
	v.leaves()
	s.mu.Unlock()
	v.log()
}

// pool lends two clients. Fixed: as many as the load ever needs.
type pool struct{ idle chan struct{} }

func newPool(it *service) func(*visit) {
	n := 2
	if it.fixed {
		n = 64
	}
	p := &pool{idle: make(chan struct{}, n)}
	for range n {
		p.idle <- struct{}{}
	}
	return p.serve
}

//go:noinline
func (p *pool) borrow() { <-p.idle }

func (p *pool) serve(v *visit) {
	v.asks()
	p.borrow()
	v.has()
	v.query()
	v.leaves()
	p.idle <- struct{}{}
	v.log()
}
