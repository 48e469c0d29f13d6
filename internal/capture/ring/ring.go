//go:build linux && (amd64 || arm64)

// Package ring reads a ring of events that programs in the kernel fill. Its pages are mapped once: mapped
// twice in a row, as is usual so that no event has a break in it, they count twice as memory of the recorder.
package ring

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Of an event's head, as the kernel defines it: its length with two bits, and a number of the kernel's.
const (
	headSize  = 8
	busy      = 1 << 31 // it is still being written
	discarded = 1 << 30 // it is none
)

// ErrDamaged says that the ring is not as the kernel keeps it.
var ErrDamaged = errors.New("the event buffer is damaged")

// Reader reads events in their order. It is not safe for concurrent use.
type Reader struct {
	taken, given *uintptr // positions, in bytes, of what was read and what was written
	data         []byte
	event        []byte // the one that was read last
	mapped       [][]byte
}

// New maps a ring.
func New(of *ebpf.Map) (*Reader, error) {
	page, size := os.Getpagesize(), int(of.MaxEntries())
	own, err := unix.Mmap(of.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the position in an event buffer: %w", err)
	}
	rest, err := unix.Mmap(of.FD(), int64(page), page+size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map an event buffer: %w", err), unix.Munmap(own))
	}
	return &Reader{
		taken: (*uintptr)(unsafe.Pointer(&own[0])), given: (*uintptr)(unsafe.Pointer(&rest[0])),
		data: rest[page:], mapped: [][]byte{own, rest},
	}, nil
}

// Next returns the next event, which is overwritten by the one after it; nil if there is none. For one that is
// still being written it waits.
func (r *Reader) Next() ([]byte, error) {
	for {
		at, end := atomic.LoadUintptr(r.taken), atomic.LoadUintptr(r.given)
		if at == end {
			return nil, nil
		}
		head := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[r.place(at)]))) // before what follows it
		if head&busy != 0 {
			continue
		}
		length := uintptr(head &^ (busy | discarded))
		next := at + headSize + (length+headSize-1)&^(headSize-1)
		if next-at > end-at {
			return nil, ErrDamaged
		}
		if head&discarded == 0 {
			r.copy(r.place(at+headSize), int(length))
		}
		atomic.StoreUintptr(r.taken, next)
		if head&discarded == 0 {
			return r.event, nil
		}
	}
}

// place is where a position lies: the ring is as long as a power of two.
func (r *Reader) place(position uintptr) uintptr { return position & uintptr(len(r.data)-1) }

// copy takes an event, which may go on at the beginning of the ring.
func (r *Reader) copy(from uintptr, length int) {
	first := min(length, len(r.data)-int(from))
	r.event = append(r.event[:0], r.data[from:int(from)+first]...)
	r.event = append(r.event, r.data[:length-first]...)
}

// Close gives the mapping back.
func (r *Reader) Close() error {
	var errs []error
	for _, m := range r.mapped {
		errs = append(errs, unix.Munmap(m))
	}
	r.mapped = nil
	return errors.Join(errs...)
}
