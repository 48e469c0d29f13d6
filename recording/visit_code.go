package recording

// Kind implements Fact.
func (*Sample) Kind() Kind { return KindSample }

// Visit implements Fact.
func (f *Sample) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*Frame) Kind() Kind { return KindFrame }

// Visit implements Fact.
func (f *Frame) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Enum("type", frameNames, (*int64)(&f.Type))
	v.Str("function", &f.Function)
	v.Str("file", &f.File)
	v.Int("line", &f.Line)
	v.Str("module", &f.Module)
}

// Kind implements Fact.
func (*Stack) Kind() Kind { return KindStack }

// Visit implements Fact.
func (f *Stack) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("caller", (*int64)(&f.Caller))
	v.Int("frame", (*int64)(&f.Frame))
}

// Kind implements Fact.
func (*StackAt) Kind() Kind { return KindStackAt }

// Visit implements Fact.
func (f *StackAt) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("stack", (*int64)(&f.Stack))
	v.Enum("origin", originNames, (*int64)(&f.Origin))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*Missing) Kind() Kind { return KindMissing }

// Visit implements Fact.
func (f *Missing) Visit(v Visitor) {
	v.Str("what", &f.What)
	v.Str("why", &f.Why)
	v.Int("count", &f.Count)
	v.Int("timed", &f.Timed)
}

// Kind implements Fact.
func (*Goroutine) Kind() Kind { return KindGoroutine }

// Visit implements Fact.
func (f *Goroutine) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("id", (*int64)(&f.ID))
	v.Int("parent", (*int64)(&f.Parent))
}

// Kind implements Fact.
func (*GoCall) Kind() Kind { return KindGoCall }

// Visit implements Fact.
func (f *GoCall) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*GoRun) Kind() Kind { return KindGoRun }

// Visit implements Fact.
func (f *GoRun) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("yields", &f.Yields)
}
