package timeline

import (
	"encoding/binary"
	"math/bits"
)

// SegmentPacker packs the segments of requests into one piece of memory.
type SegmentPacker struct {
	packed []byte
	ends   []int // of each request's segments, in packed
}

// Pack gives each of some requests its segments. The function of may reuse the memory that it returns.
func (k *SegmentPacker) Pack(requests []Request, of func(*Request) []Segment) {
	packed := k.packed[:0]
	ends := k.ends[:0]
	for i := range requests {
		packed = requests[i].packSegments(packed, of(&requests[i]))
		ends = append(ends, len(packed))
	}
	all, from := string(packed), 0
	for i, to := range ends {
		requests[i].segments, from = all[from:to], to
	}
	k.packed, k.ends = packed, ends
}

// Segments iterates over a request's segments. They are kept packed because every request has many.
//
//	for s := r.Segments(); s.Next(); {
type Segments struct {
	Segment        // the current one, once Next has returned true
	packed  string // the request's segments
	at      int    // where in packed the next one begins
	call    CallID // of the last segment that was part of a call
	blocker RequestID
}

// Segments returns an iterator over the request's segments: ordered, disjoint, within [Start, End).
func (r *Request) Segments() Segments {
	return Segments{Segment: Segment{To: r.Start, Strand: r.Strand}, packed: r.segments, at: kindsSize, blocker: r.ID}
}

// SegmentList returns the request's segments as a list; nil if there are none.
func (r *Request) SegmentList() []Segment { return r.appendSegments(nil) }

func (r *Request) appendSegments(list []Segment) []Segment {
	for s := r.Segments(); s.Next(); {
		list = append(list, s.Segment)
	}
	return list
}

// SetSegments replaces the request's segments. The request's ID, Strand and Start must not change afterwards.
func (r *Request) SetSegments(list []Segment) {
	r.segments = string(r.packSegments(nil, list))
}

// ChangeCalled changes all segments that are part of calls.
func (t *Timeline) ChangeCalled(change func(*Segment)) {
	if len(t.Calls) == 0 {
		return
	}
	var list []Segment
	var packed []byte
	for i := range t.Requests {
		r, called := &t.Requests[i], false
		list = r.appendSegments(list[:0])
		for k := range list {
			if list[k].Call != None {
				change(&list[k])
				called = true
			}
		}
		if called {
			packed = r.packSegments(packed[:0], list)
			r.segments = string(packed)
		}
	}
}

// Has reports whether any segment of the request has a cause.
func (r *Request) Has(cause Cause) bool {
	return r.segments != "" && r.segments[cause/8]>>(cause%8)&1 != 0
}

// Causes returns the causes of the request's segments, as a bit set.
func (r *Request) Causes() (set uint) {
	if r.segments != "" {
		set = uint(r.segments[0]) | uint(r.segments[1])<<8
	}
	return set
}

// HasPhase reports whether any segment of the request has a phase.
func (r *Request) HasPhase(phase Phase) bool {
	return r.segments != "" && r.segments[2+phase/8]>>(phase%8)&1 != 0
}

// kindsSize is the number of bytes before the segments: bit sets of the causes, then of the phases, that occur.
const kindsSize = 2 + 2

// The packed form has four bits each for the cause and the phase: a 17th of either does not compile.
const (
	_ = uint(16 - NumCauses)
	_ = uint(16 - NumPhases)
)

// Two bytes describe each segment, then its length follows. What equals the previous segment's value is left out.
const (
	packedGap    = 1 << 6 // in the first byte, beside cause and quality: it does not begin where the previous one ended
	packedStrand = 1 << 7 // its strand differs from the previous one's
	packedCall   = 1 << 4 // in the second byte, beside the phase
	packedBlock  = 1 << 5
	packedLength = 6 // from this bit on: how many bytes more than two the length has; packedLong: it has eight
)

// packedLong marks a length that does not fit in four bytes.
const packedLong = 3

// packedSlack is the number of bytes after the segments: reading a length always reads four bytes, even if it has two.
const packedSlack = 2

// packLength appends a segment's length after the two bytes that describe the segment.
func packLength(to []byte, length uint64) []byte {
	width := max(0, (bits.Len64(length)+7)/8-2)
	if width >= packedLong {
		to[len(to)-1] |= packedLong << packedLength
		return binary.LittleEndian.AppendUint64(to, length)
	}
	to[len(to)-1] |= byte(width) << packedLength
	return binary.LittleEndian.AppendUint32(to, uint32(length))[:len(to)+width+2]
}

// packSegments appends the packed form of segments.
func (r *Request) packSegments(to []byte, list []Segment) []byte {
	last := Segment{To: r.Start, Strand: r.Strand}
	call, blocker := CallID(0), r.ID
	kinds := len(to)
	if len(list) > 0 {
		to = append(to, make([]byte, kindsSize)...)
	}
	for i := range list {
		g := &list[i]
		to[kinds+int(g.Cause/8)] |= 1 << (g.Cause % 8)
		to[kinds+2+int(g.Phase/8)] |= 1 << (g.Phase % 8)
		head := len(to)
		to = packLength(append(to, byte(g.Cause)|byte(g.Quality)<<4, byte(g.Phase)), uint64(g.To-g.From))
		if g.Strand != last.Strand {
			to[head] |= packedStrand
			to = binary.AppendVarint(to, int64(g.Strand))
		}
		if g.From != last.To {
			to[head] |= packedGap
			to = binary.AppendVarint(to, int64(g.From-last.To))
		}
		if g.Call != None {
			to[head+1] |= packedCall
			to = binary.AppendVarint(to, int64(g.Call-call))
			call = g.Call
		}
		if g.Blocker != None {
			to[head+1] |= packedBlock
			to = binary.AppendVarint(to, int64(g.Blocker-blocker))
			blocker = g.Blocker
		}
		last = *g
	}
	if len(list) > 0 {
		to = append(to, make([]byte, packedSlack)...)
	}
	return to
}

// Next reads the next segment; false if there is none.
func (s *Segments) Next() bool {
	packed, at, n := s.packed, s.at+2, uint64(0)
	if at >= len(packed) { // the slack is as long as the two bytes
		return false
	}
	first, second := packed[at-2], packed[at-1]
	s.Cause, s.Quality, s.Phase = Cause(first&15), Quality(first>>4&3), Phase(second&15)
	b := packed[at : at+4]
	length, width := Time(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24), second>>packedLength
	if at += 2 + int(width); width < packedLong {
		length &= 1<<(16+8*width) - 1
	} else {
		b, at = packed[at-1:at+3], at+3
		length |= Time(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24) << 32
	}
	if first&packedStrand != 0 {
		n, at = unsigned(packed, at)
		s.Strand = StrandID(signed(n))
	}
	s.From = s.To
	if first&packedGap != 0 {
		n, at = unsigned(packed, at)
		s.From += Time(signed(n))
	}
	s.To = s.From + length
	s.Call, s.Blocker = None, None
	if second&packedCall != 0 {
		n, at = unsigned(packed, at)
		s.call += CallID(signed(n))
		s.Call = s.call
	}
	if second&packedBlock != 0 {
		n, at = unsigned(packed, at)
		s.blocker += RequestID(signed(n))
		s.Blocker = s.blocker
	}
	s.at = at
	return true
}

// unsigned reads a number that binary.AppendUvarint wrote, and returns the position after it.
func unsigned(b string, at int) (n uint64, next int) {
	for shift := 0; ; shift += 7 {
		c := b[at]
		at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, at
		}
	}
}

// signed converts an unsigned number back to the signed one that binary.AppendVarint wrote.
func signed(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
