package recording

// Late says that the end of what was written on an inbound connection stayed in the socket
// after the write had returned: Nagle's algorithm holds less than a segment back until the
// peer has acknowledged all that was sent before, which a delayed acknowledgement makes
// 40 ms. Time is when the peer was seen to have it: when it next sent something.
type Late struct {
	Conn   ConnID
	Offset int64 // bytes written before and with it
	Left   Time  // when it was sent, to the microsecond
}

// Kind implements Fact.
func (*Late) Kind() Kind { return KindLate }

// Visit implements Fact.
func (f *Late) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("left", (*int64)(&f.Left))
}
