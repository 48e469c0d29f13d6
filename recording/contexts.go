package recording

// Context says of which context of Python another one is a copy, when the copy was first seen
// to do something, or something that is a copy of it. ID is positive.
type Context struct {
	Process ProcessID
	ID      ContextID
	Parent  ContextID // NoContext: not known
}

// Kind implements Fact.
func (*Context) Kind() Kind { return KindContext }

// Visit implements Fact.
func (f *Context) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("id", (*int64)(&f.ID))
	v.Int("parent", (*int64)(&f.Parent))
}
