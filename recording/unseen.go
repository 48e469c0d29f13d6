package recording

// Unseen says that one set of probes saw nothing from From to the event's Time, in one process or in all. Anything
// that began before that span or ended after it was not seen either.
type Unseen struct {
	Process ProcessID // NoProcess: all
	What    string    // stable code, see docs
	From    Time
}

// Kind implements Fact.
func (*Unseen) Kind() Kind { return KindUnseen }

// Visit implements Fact.
func (f *Unseen) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Str("what", &f.What)
	v.Int("from", (*int64)(&f.From))
}
