package protocol

import "bytes"

// maxElement is how much of one element is kept while it is incomplete.
const maxElement = 1 << 10

// tape is one direction of a stream of elements that state their own lengths. The position of an element follows from
// those before it as long as their heads were captured. Otherwise the tape is lost until the beginning of an element
// is found again.
type tape struct {
	seen bool
	lost bool
	pos  int64  // where the next chunk begins unless bytes were missed
	next int64  // where the next element begins
	held []byte // of that element, while it is incomplete
}

// piece is the visible part of an element: its position, and the captured bytes from there on. cut: no more bytes of
// it will be seen.
type piece struct {
	at  int64
	b   []byte
	cut bool
}

// element returns how long an element is. It returns 0 if it needs more bytes, and a negative number if this is not
// an element.
type element func(piece) int64

// follow records where a chunk lies. Bytes missed within an element have no effect.
func (s *tape) follow(k chunk) {
	if !s.seen {
		s.seen, s.lost, s.pos = true, true, k.offset
	}
	if k.offset != s.pos && (k.offset < s.pos || k.offset > s.next || len(s.held) > 0) {
		s.lose()
	}
	s.pos = k.end()
}

func (s *tape) lose() { s.lost, s.held = true, nil }

// find says that an element begins at a position.
func (s *tape) find(at int64) { s.lost, s.held, s.next = false, nil, at }

// run passes the elements that begin in a chunk to e. It stops when the tape is lost; broken: because it found
// something that is not an element.
func (s *tape) run(k chunk, e element) (broken bool) {
	for !s.lost && s.next < k.end() {
		window := k.from(s.next + int64(len(s.held)))
		if len(s.held) > 0 {
			window = append(s.held, window...)
		}
		cut := s.next+int64(len(window)) != k.end() || len(window) >= maxElement
		window = window[:min(len(window), maxElement)]
		n := int64(0)
		if len(window) > 0 {
			n = e(piece{s.next, window, cut})
		}
		switch {
		case n > int64(len(s.held)):
			s.held, s.next = nil, s.next+n
		case n == 0 && !cut:
			s.held = bytes.Clone(window)
			return false
		default:
			s.lose()
			return n != 0
		}
	}
	return false
}
