package recording

import "slices"

// fillVisitor sets the fields of a fact, in order, from the values of a row.
type fillVisitor struct {
	values [maxColumns]int64
	table  []string
	next   int
	bad    bool
}

// Int implements Visitor.
func (f *fillVisitor) Int(_ string, v *int64) {
	*v = f.values[f.next]
	f.next++
}

// Enum implements Visitor.
func (f *fillVisitor) Enum(_ string, _ []string, v *int64) {
	*v = f.values[f.next]
	f.next++
}

// Str implements Visitor.
func (f *fillVisitor) Str(_ string, v *string) {
	i := f.values[f.next]
	f.next++
	if uint64(i) >= uint64(len(f.table)) {
		f.bad = true
		return
	}
	*v = f.table[i]
}

// matchVisitor sets the fields of a fact by name, for files whose columns differ in
// order or type from this version's. What has no counterpart stays zero.
type matchVisitor struct{ fields []Field }

func (m *matchVisitor) find(name string) *Field {
	i := slices.IndexFunc(m.fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &m.fields[i]
}

// Int implements Visitor.
func (m *matchVisitor) Int(name string, v *int64) {
	if f := m.find(name); f != nil && !f.IsStr {
		*v = f.Int
	}
}

// Enum implements Visitor.
func (m *matchVisitor) Enum(name string, names []string, v *int64) {
	f := m.find(name)
	if f == nil {
		return
	}
	*v = f.Int
	if f.IsStr {
		*v = int64(max(0, slices.Index(names, f.Str)))
	}
}

// Str implements Visitor.
func (m *matchVisitor) Str(name string, v *string) {
	if f := m.find(name); f != nil {
		*v = f.Str
	}
}

// slabs makes the facts that are most of a recording many at a time.
type slabs struct {
	offs      []Off
	chunks    []Chunk
	samples   []Sample
	requests  []HTTPRequest
	responses []HTTPResponse
	records   []TLS
	conns     []Conn
	opened    []Established
	closed    []Closed
}

// slabSize bounds the memory that a fact which is kept alone keeps with it.
const slabSize = 256

func (s *slabs) make(spec *KindSpec) Fact {
	switch spec.Kind {
	case KindOff:
		return take(&s.offs)
	case KindChunk:
		return take(&s.chunks)
	case KindSample:
		return take(&s.samples)
	case KindHTTPRequest:
		return take(&s.requests)
	case KindHTTPResponse:
		return take(&s.responses)
	case KindTLS:
		return take(&s.records)
	case KindConn:
		return take(&s.conns)
	case KindEstablished:
		return take(&s.opened)
	case KindClosed:
		return take(&s.closed)
	}
	return spec.New()
}

func take[T any](slab *[]T) *T {
	if len(*slab) == 0 {
		*slab = make([]T, slabSize)
	}
	next := &(*slab)[0]
	*slab = (*slab)[1:]
	return next
}
