package recording

// Late says that the end of what was written on a connection stayed in the socket
// after the write had returned: the peer had no room for it, or the network none for more
// under way; or Nagle's algorithm held less than a segment back until the peer had
// acknowledged all that was sent before, which a delayed acknowledgement makes 40 ms; or this
// host dropped it on its way out, and TCP tried again after 200 ms. Time is
// when the peer was seen to have it: when it next sent something.
type Late struct {
	Conn   ConnID
	Offset int64 // bytes written before and with it
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
