package recording

// Unseen says that from From to the event's Time it was not seen what one set of probes
// tells, in one process or all. What began before, or ended after, was not seen either.
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
