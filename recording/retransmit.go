package recording

// Retransmit says that a segment was sent again on a connection: the other end had
// acknowledged nothing for as long as the kernel waits at first (200 ms or more, a second for
// the first segment of a connection, twice that each time it happens again), or it said that
// one is missing. Time is when it was sent again.
type Retransmit struct {
	Conn ConnID
}

// Kind implements Fact.
func (*Retransmit) Kind() Kind { return KindRetransmit }

// Visit implements Fact.
func (f *Retransmit) Visit(v Visitor) { v.Int("conn", (*int64)(&f.Conn)) }
