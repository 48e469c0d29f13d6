package recording

// Neighbour tells what a program that is not watched used of the host's processors since
// some time: of those that used most, a few each second. Processes of one name are one
// program.
type Neighbour struct {
	Comm  string
	Since Time
	CPU   int64 // ns
}

// Kind implements Fact.
func (*Neighbour) Kind() Kind { return KindNeighbour }

// Visit implements Fact.
func (f *Neighbour) Visit(v Visitor) {
	v.Str("comm", &f.Comm)
	v.Int("since", (*int64)(&f.Since))
	v.Int("cpu", &f.CPU)
}
