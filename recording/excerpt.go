package recording

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Part says which facts of a recording are wanted. The zero value asks for all.
type Part struct {
	// Most is about how many facts are passed on from a recording that has more: those of some windows of time,
	// spread over its length. 0: no limit.
	Most int64
	// Around chooses a time; one window around it is then passed on completely. nil: windows are spread.
	Around func(Overview) (Time, error)
	// Brief says that the caller looks at each fact only while it is passed on. The memory of an Off, a Chunk, an
	// HTTPRequest or an HTTPResponse is reused after that.
	Brief bool
}

// Overview is what is known about a recording before its facts are read.
type Overview struct {
	Start, End Time
	Clocks     []Event // in order of time
}

// Span is a part of a recording's time.
type Span struct{ From, To Time }

// Excerpt says which part of a recording was passed on.
type Excerpt struct {
	Windows  []Span // in order; the last one may end after the recording
	Requests int64  // requests to the watched processes whose heads arrived in Windows
	Of       int64  // the same for the whole recording
}

// glance is a summary that the first reading makes of a block. It is not a fact: it replaces all facts of the block.
type glance struct {
	low     Time // of the earliest event
	at      Time // of the first event in the block
	span    Span // of the events within maxSpan of at
	facts   int64
	inbound []ConnID // declared in the block
	asked   []ConnID // one for each head of a request
	conn    ConnID   // the highest id
	noted   []Event  // each Clock and Gap
	code    []Event  // each Frame and Stack, which no other field covers
}

// Kind implements Fact.
func (*glance) Kind() Kind { return KindNone }

// Visit implements Fact.
func (*glance) Visit(Visitor) {}

// glanceAt adds one event that stands for a whole block.
func (d *decoder) glanceAt(c *cursor) error {
	g := &glance{low: math.MaxInt64}
	for _, row := range d.kinds {
		if row != nil {
			row.last = [maxColumns]int64{}
		}
	}
	table := *c
	for range c.count() {
		c.bytes()
	}
	d.table = d.table[:0]
	var t Time
	for c.more() {
		number := c.uvarint()
		t += Time(c.varint())
		set := c.uvarint()
		if number >= uint64(len(d.kinds)) || d.kinds[number] == nil || bits.Len64(set) > len(d.kinds[number].shape.columns) {
			return errMalformed
		}
		row := d.kinds[number]
		if row.code() {
			if len(d.table) == 0 {
				d.strs(&table)
			}
			row.values(c, set, &d.fill.values)
			f, err := d.fact(row)
			if err != nil || c.bad {
				return errMalformed
			}
			g.code = append(g.code, Event{t, f})
			continue
		}
		g.see(t)
		if !row.noted() {
			c.skip(bits.OnesCount64(set))
			continue
		}
		row.values(c, set, &d.fill.values)
		g.note(t, row.spec.Kind, &d.fill.values)
	}
	if c.bad {
		return errMalformed
	}
	d.events = append(d.events, Event{g.low, g})
	return nil
}

// values reads the values of an event; the bits of set say which ones are not zero.
func (row *readerRow) values(c *cursor, set uint64, values *[maxColumns]int64) {
	clear(values[:row.width])
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		row.last[i] += c.varint()
		values[i] = row.last[i]
	}
}

func (g *glance) see(t Time) {
	if g.facts == 0 {
		g.at, g.span = t, Span{t, t}
	}
	g.facts++
	g.low = min(g.low, t)
	if max(t-g.at, g.at-t) <= maxSpan {
		g.span = Span{min(g.span.From, t), max(g.span.To, t)}
	}
}

// code reports whether facts of a kind describe code. Such facts count as being at the beginning of the recording,
// whenever they were written, so that they precede everything that refers to them.
func (row *readerRow) code() bool {
	return row.spec != nil && (row.spec.Kind == KindFrame || row.spec.Kind == KindStack)
}

// noted reports whether a glance uses values of facts of a kind. It reads them by the column positions of this
// version.
func (row *readerRow) noted() bool {
	if row.spec == nil || !row.exact {
		return false
	}
	switch row.spec.Kind {
	case KindConn, KindHTTPRequest, KindClock, KindGap:
		return true
	}
	return false
}

func (g *glance) note(t Time, kind Kind, values *[maxColumns]int64) {
	switch first := values[0]; kind {
	case KindConn:
		g.conn = max(g.conn, ConnID(first))
		if Side(values[1]) == Inbound {
			g.inbound = append(g.inbound, ConnID(first))
		}
	case KindHTTPRequest:
		g.asked = append(g.asked, ConnID(first))
	case KindClock:
		g.noted = append(g.noted, Event{t, &Clock{Wall: first}})
	case KindGap:
		g.noted = append(g.noted, Event{t, &Gap{From: Time(first)}})
	}
}

// outline is what is known about a file after its first reading.
type outline struct {
	Overview
	floors   []Time  // by block: no event in it or in a later block is earlier
	spans    []Span  // of each block
	at       []Time  // when each block began: never earlier than the blocks before it
	before   []int64 // number of facts in the blocks before it
	facts    int64
	requests int64
	conn     ConnID // the highest id
	rests    []Span // pauses of the recorder, in order
	inbound  connSet
	code     []Event // each Frame and Stack of all blocks except the first that has facts
	first    int     // index of that first block
}

// connSet is a set of connections. It needs little memory if their ids are consecutive.
type connSet map[ConnID]*[connPage / 64]uint64

const connPage = 1 << 10

func (s connSet) add(id ConnID) {
	page := s[id/connPage]
	if page == nil {
		page = new([connPage / 64]uint64)
		s[id/connPage] = page
	}
	page[uint64(id)%connPage/64] |= 1 << (uint64(id) % 64)
}

func (s connSet) has(id ConnID) bool {
	page := s[id/connPage]
	return page != nil && page[uint64(id)%connPage/64]&(1<<(uint64(id)%64)) != 0
}

// add adds the next block, which may have no facts.
func (o *outline) add(block []Event) {
	var g *glance
	if len(block) > 0 {
		g, _ = block[0].Fact.(*glance)
	}
	switch {
	case g == nil:
	case o.first < 0:
		o.first = len(o.floors)
	default:
		o.code = append(o.code, g.code...)
	}
	if g == nil || g.facts == 0 {
		g = &glance{low: math.MaxInt64, at: o.End, span: Span{o.End, o.End}}
	}
	if o.facts == 0 {
		o.Start, o.End = g.span.From, g.span.To
	}
	at := g.at
	if max(at-o.Start, o.Start-at) <= maxSpan { // otherwise its facts are left out
		o.Start, o.End = min(o.Start, g.span.From), max(o.End, g.span.To)
	} else {
		at = o.End
	}
	if n := len(o.at); n > 0 {
		at = max(at, o.at[n-1])
	}
	o.floors, o.spans, o.at, o.before = append(o.floors, g.low), append(o.spans, g.span), append(o.at, at), append(o.before, o.facts)
	o.facts += g.facts
	o.conn = max(o.conn, g.conn)
	for _, id := range g.inbound {
		o.inbound.add(id)
	}
	for _, id := range g.asked {
		if o.inbound.has(id) {
			o.requests++
		}
	}
	for _, e := range g.noted {
		if gap, ok := e.Fact.(*Gap); ok {
			o.rests = append(o.rests, Span{gap.From, e.Time})
		} else {
			o.Clocks = append(o.Clocks, e)
		}
	}
}

// end is called after the last block.
func (o *outline) end() {
	for i := len(o.floors) - 2; i >= 0; i-- {
		o.floors[i] = min(o.floors[i], o.floors[i+1])
	}
	sortEvents(o.code)
	sortEvents(o.Clocks)
	slices.SortStableFunc(o.rests, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
}

// Windows are long enough to contain most requests completely, and there are as many of them as that allows. But
// there are never so few that one minute would represent a whole hour.
const (
	windowLong  = Time(10_000_000_000)
	fewWindows  = 4
	manyWindows = 24
	golden      = 0.6180339887498949 // its multiples modulo 1 are evenly spread, and in step with nothing periodic
)

// windows returns the windows whose facts are wanted; nil: the whole recording. Each window holds the same number of
// facts, and lies somewhere in one of as many equal parts of all facts. So windows are shorter where more happens,
// and each request has the same chance to be in one.
func (o *outline) windows(p Part) ([]Span, error) {
	if p.Most <= 0 || o.facts <= p.Most {
		return nil, nil
	}
	if p.Around != nil {
		at, err := p.Around(o.Overview)
		if err != nil {
			return nil, err
		}
		return o.settled([]Span{o.around(at, p.Most/fewWindows/2)}), nil
	}
	kept := float64(p.Most) / float64(o.facts)
	n := int64(min(max(kept*float64(o.End-o.Start)/float64(windowLong), fewWindows), manyWindows))
	var list []Span
	for k := range n {
		long := p.Most / n
		_, place := math.Modf(float64(k+1) * golden)
		from := k*o.facts/n + int64(place*float64(o.facts/n-long))
		list = append(list, Span{o.timeOf(from), o.timeOf(from + long)})
	}
	return o.settled(list), nil
}

// timeOf returns when the block that holds the n-th fact began, or a time after the end if there are fewer facts.
func (o *outline) timeOf(n int64) Time {
	if n >= o.facts {
		return o.End + 1
	}
	i := sort.Search(len(o.before), func(i int) bool { return o.before[i] > n })
	return o.at[max(0, i-1)]
}

// around returns a window: the block that contains at, and at least so many facts on either side.
func (o *outline) around(at Time, facts int64) Span {
	next := sort.Search(len(o.at), func(i int) bool { return o.at[i] > at })
	w := Span{min(at, o.timeOf(o.before[max(0, next-1)]-facts)), o.End + 1}
	if next < len(o.at) {
		last := sort.Search(len(o.at), func(i int) bool { return o.before[i] >= o.before[next]+facts })
		if last < len(o.at) {
			w.To = o.at[last]
		}
	}
	return w
}

// settled returns the windows without overlaps, and none begins or ends in a pause of the recorder.
func (o *outline) settled(list []Span) (out []Span) {
	for _, w := range list {
		for _, r := range o.rests {
			if r.From <= w.From && w.From < r.To {
				w.From = r.To
			}
			if r.From < w.To && w.To <= r.To {
				w.To = r.From
			}
		}
		if n := len(out); n > 0 {
			if w.From <= out[n-1].To {
				out[n-1].To = max(out[n-1].To, w.To)
				continue
			}
		}
		if w.From < w.To {
			out = append(out, w)
		}
	}
	if out == nil { // nothing but pauses, or a single block
		out = []Span{{o.Start, o.End + 1}}
	}
	return out
}

// between reports, for each block, whether all its events lie outside these windows and not close to one.
func (o *outline) between(windows []Span) []bool {
	out := make([]bool, len(o.spans))
	for i, b := range o.spans {
		k := sort.Search(len(windows), func(k int) bool { return windows[k].To > b.From })
		out[i] = k == len(windows) || windows[k].From > b.To
	}
	return out
}
