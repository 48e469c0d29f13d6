package recording

// Neighbour reports how much of the host's processors a program that is not watched used since Since. Only the few
// programs that used most are recorded, once a second. Processes with the same name count as one program.
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
