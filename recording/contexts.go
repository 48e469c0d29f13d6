package recording

// Context names the context of Python from which another context was copied. It is recorded when the copy, or a copy
// of it, is first seen to do something. ID is positive.
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
