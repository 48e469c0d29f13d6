package recording

// Retransmit says that a segment was sent again on a connection. Either the other end acknowledged nothing until the
// kernel's timeout (200 ms or more, one second for the first segment of a connection, doubled on each repetition), or
// it reported that a segment is missing. Time is when the segment was sent again.
type Retransmit struct {
	Conn ConnID
}

// Kind implements Fact.
func (*Retransmit) Kind() Kind { return KindRetransmit }

// Visit implements Fact.
func (f *Retransmit) Visit(v Visitor) { v.Int("conn", (*int64)(&f.Conn)) }
