package recording

// Late says that the end of what was written on a connection stayed in the socket after the write returned. There are
// three possible reasons. The peer had no room for it, or the network had no room for more data in flight. Or Nagle's
// algorithm held back less than one segment until the peer acknowledged everything sent before, which takes 40 ms
// with a delayed acknowledgement. Or this host dropped it on its way out, and TCP retried after 200 ms. Time is when
// the peer was seen to have it, because it sent something.
type Late struct {
	Conn   ConnID
	Offset int64 // position of its end: bytes written up to and including it
	Left   Time  // when it was sent, to the microsecond
	Window int64 // 2: this host dropped it on its way out; 1: there was no room for it; 0: Nagle's algorithm held it
}

// Kind implements Fact.
func (*Late) Kind() Kind { return KindLate }

// Visit implements Fact.
func (f *Late) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("left", (*int64)(&f.Left))
	v.Int("window", &f.Window)
}
