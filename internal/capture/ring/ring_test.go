//go:build linux && (amd64 || arm64)

package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"unsafe"
)

// filled is a ring of 64 bytes in which events were written from a position on: each is its head, and what
// follows it, padded to eight bytes.
func filled(from uintptr, events ...[]byte) *Reader {
	words := make([]uint64, 8) // as aligned as pages are
	r := &Reader{taken: new(uintptr), given: new(uintptr), data: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 64)}
	*r.taken = from
	for _, e := range events {
		for _, b := range e {
			r.data[r.place(from)] = b
			from++
		}
		from = (from + 7) &^ 7
	}
	*r.given = from
	return r
}

func event(bits uint32, text string) []byte {
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(text))|uint64(bits))
	return append(head, text...)
}

func TestEventsAreReadInTheirOrder(t *testing.T) {
	for name, from := range map[string]uintptr{"at the beginning": 0, "across the end": 48, "a head that ends with the ring": 56} {
		r := filled(from, event(0, "one of them"), event(discarded, "none"), event(0, "the other"))
		for _, want := range []string{"one of them", "the other"} {
			if got, err := r.Next(); err != nil || !bytes.Equal(got, []byte(want)) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
		if got, err := r.Next(); got != nil || err != nil {
			t.Errorf("%s: %q, %v after the last", name, got, err)
		}
		if *r.taken != *r.given {
			t.Errorf("%s: the kernel is told that %d of %d bytes were read", name, *r.taken, *r.given)
		}
	}
}

func TestAnEventLongerThanWhatWasWrittenIsAnError(t *testing.T) {
	r := filled(0, binary.LittleEndian.AppendUint64(nil, 1<<20))
	if _, err := r.Next(); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want %v", err, ErrDamaged)
	}
}
