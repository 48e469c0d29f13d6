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

// matchVisitor sets the fields of a fact by name, for files whose columns differ in order or type from this
// version's. Fields without a counterpart stay zero.
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

// slabs allocates the most frequent kinds of facts, many at a time.
type slabs struct {
	offs      slab[Off]
	chunks    slab[Chunk]
	samples   slab[Sample]
	requests  slab[HTTPRequest]
	responses slab[HTTPResponse]
	records   slab[TLS]
	conns     slab[Conn]
	opened    slab[Established]
	closed    slab[Closed]
}

// slabSize bounds the memory that one fact keeps alive if it alone is kept.
const slabSize = 256

func (s *slabs) make(spec *KindSpec) Fact {
	switch spec.Kind {
	case KindOff:
		return s.offs.take()
	case KindChunk:
		return s.chunks.take()
	case KindSample:
		return s.samples.take()
	case KindHTTPRequest:
		return s.requests.take()
	case KindHTTPResponse:
		return s.responses.take()
	case KindTLS:
		return s.records.take()
	case KindConn:
		return s.conns.take()
	case KindEstablished:
		return s.opened.take()
	case KindClosed:
		return s.closed.take()
	}
	return spec.New()
}

// spend takes back a fact that is no longer used, if its kind is one that Part.Brief names.
func (s *slabs) spend(f Fact) {
	switch f := f.(type) {
	case *Off:
		s.offs.spent = append(s.offs.spent, f)
	case *Chunk:
		s.chunks.spent = append(s.chunks.spent, f)
	case *HTTPRequest:
		s.requests.spent = append(s.requests.spent, f)
	case *HTTPResponse:
		s.responses.spent = append(s.responses.spent, f)
	}
}

// slab makes facts of one kind. It reuses spent facts first.
type slab[T any] struct {
	spent []*T
	fresh []T
}

func (s *slab[T]) take() (next *T) {
	if n := len(s.spent); n > 0 {
		next, s.spent = s.spent[n-1], s.spent[:n-1]
		*next = *new(T)
		return next
	}
	if len(s.fresh) == 0 {
		s.fresh = make([]T, slabSize)
	}
	next, s.fresh = &s.fresh[0], s.fresh[1:]
	return next
}
