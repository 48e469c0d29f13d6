package recording

// KindUnknown is the Kind of every UnknownFact.
const KindUnknown Kind = -1

// UnknownFact is a fact of a kind that this version of dwell does not know. It is kept, printed and written back, so
// that nothing is lost.
type UnknownFact struct {
	Name   string
	Fields []Field
}

// Field is one field of an UnknownFact. Enums arrive as their names.
type Field struct {
	Name  string
	IsStr bool
	Int   int64
	Str   string
}

// Kind implements Fact.
func (*UnknownFact) Kind() Kind { return KindUnknown }

// Visit implements Fact.
func (f *UnknownFact) Visit(v Visitor) {
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.IsStr {
			v.Str(field.Name, &field.Str)
		} else {
			v.Int(field.Name, &field.Int)
		}
	}
}

// kindName returns the name of a fact's kind in both forms, or "" for a kind that is not in the table.
func kindName(f Fact, specs []KindSpec) string {
	if u, ok := f.(*UnknownFact); ok {
		return u.Name
	}
	i := int(f.Kind()) - 1
	if i < 0 || i >= len(specs) {
		return ""
	}
	return specs[i].Name
}
