package recording

import (
	"math"
	"strings"
)

// The values that a recording can hold. A number beyond them comes from a damaged or forged file. The fact that
// contains it is left out, so that readers need not check each number.
const (
	maxSpan  = Time(1) << 52  // 52 days: the largest distance of a fact from the first one
	maxTime  = int64(1) << 61 // 73 years: the longest uptime of a host, or CPU time of all its processors together
	maxBytes = int64(1) << 57 // of an address space; more than a connection carries
	maxCount = int64(1) << 40
	maxSmall = int64(1) << 31 // ids that a recorder assigns, and numbers that the kernel assigns
	maxEnum  = 1 << 10
	maxText  = 16 << 10 // bytes of a string
	maxDepth = 4 << 10  // frames of a stack
)

// leftOut is the hook that a Loss names if a reader left facts out.
const leftOut = "reader"

// limit bounds the values of one field; 0 is always allowed.
type limit struct {
	from, to int64
	near     bool // a time, which has to be near that of its event
}

func (l *limit) allows(v int64, at Time) bool {
	return l.from <= v && v <= l.to && (!l.near || Time(v)-at <= maxSpan && at-Time(v) <= maxSpan)
}

// limits classifies every number of every kind by the name of its field. If kinds give one name different meanings,
// the entry with the kind's name before it takes precedence.
func limits() map[string]limit {
	all, unlimited := map[string]limit{}, limit{from: math.MinInt64, to: math.MaxInt64} // addresses, and ids that a program gives out
	for _, class := range []struct {
		limit
		fields string
	}{
		{limit{from: 1, to: maxTime, near: true}, "since woken arrived last first from put stopped late.left"},
		{limit{to: maxTime}, "start wall suspended user-cpu bpf inside busy idle pressure throttled stolen ran queued serviced p50 p99 longest neighbour.cpu round-trip"},
		{limit{from: -2, to: maxBytes}, "rss offset bytes written read head length size fetched in out virtual resident shared mapping.before"},
		{limit{from: -1, to: maxCount}, "count events running overflows minor major depth limit backlog messages skipped"},
		{limit{from: -1, to: maxSmall}, "id pid tid process thread creator waker owner putter conn frame stack caller file before left line cpu cpus procs"},
		{limit{from: -1, to: maxSmall}, "process.parent listen.port backlog.port status rcode version"},
		{limit{to: maxSmall}, "on release timed existing merged close upgrade window write executor open yields refused"},
		{unlimited, "goroutine goroutine.id context context.id contexts parent unpark.woken exec trigger counter port waiter to"},
		{unlimited, "arg sp object word queue"},
	} {
		for field := range strings.FieldsSeq(class.fields) {
			all[field] = class.limit
		}
	}
	return all
}

// bounds are the limits of the numbers of every kind, in the order of its Visit.
type bounds [][]limit

// newBounds panics if a field is not classified: a reader of a new fact has to know which values it can have.
func newBounds() bounds {
	all, by := limits(), bounds{}
	for _, k := range Kinds() {
		row := []limit{}
		for _, c := range shapeOf(k.Name, k.New()).columns {
			if c.typ != typeInt {
				continue
			}
			l, ok := all[k.Name+"."+c.name]
			if !ok {
				l, ok = all[c.name]
			}
			if !ok {
				panic("recording: what " + k.Name + "." + c.name + " may say is not in limits")
			}
			row = append(row, l)
		}
		for len(by) <= int(k.Kind) {
			by = append(by, nil)
		}
		by[k.Kind] = row
	}
	return by
}

// boundVisitor checks whether all values of a fact are within bounds.
type boundVisitor struct {
	at     Time
	limits []limit
	next   int // index into limits
	wrong  bool
}

// Int implements Visitor.
func (b *boundVisitor) Int(_ string, v *int64) {
	if *v != 0 && !b.limits[b.next].allows(*v, b.at) {
		b.wrong = true
	}
	b.next++
}

// Enum implements Visitor. A value without a name comes from a newer version.
func (b *boundVisitor) Enum(_ string, _ []string, v *int64) {
	b.wrong = b.wrong || *v < 0 || *v > maxEnum
}

// Str implements Visitor.
func (b *boundVisitor) Str(_ string, v *string) { b.wrong = b.wrong || len(*v) > maxText }

// eventsAtOnce is how many events are checked in one piece.
const eventsAtOnce = 1 << 14

// screen leaves out events whose values no recording can hold.
type screen struct {
	bounds bounds
	first  Time // the time of the recording's first event
	begun  bool
	depths map[StackID]int
	left   int64 // number of events left out
}

func newScreen() *screen { return &screen{bounds: newBounds(), depths: map[StackID]int{}} }

// within returns the next events of a recording, in the same memory, without those that no recording can hold.
func (s *screen) within(by Workers, events []Event) []Event {
	if len(events) == 0 {
		return events
	}
	if !s.begun {
		s.first, s.begun = events[0].Time, true
	}
	wrong := make([][]int, (len(events)+eventsAtOnce-1)/eventsAtOnce)
	by.InPieces(len(events), eventsAtOnce, func(_, from, to int) {
		var v boundVisitor
		for i := from; i < to; i++ {
			if !s.bounds.hold(&v, &events[i], s.first) {
				wrong[from/eventsAtOnce] = append(wrong[from/eventsAtOnce], i)
			}
		}
	})
	kept := events[:0]
	for piece, list := range wrong {
		for i := piece * eventsAtOnce; i < min(len(events), (piece+1)*eventsAtOnce); i++ {
			if len(list) > 0 && list[0] == i || tooDeep(s.depths, events[i].Fact) {
				s.left++
				if len(list) > 0 && list[0] == i {
					list = list[1:]
				}
				continue
			}
			kept = append(kept, events[i])
		}
	}
	clear(events[len(kept):])
	return kept
}

// loss reports the events that were left out of a recording between two times.
func (s *screen) loss(from, to Time) Event {
	return Event{to, &Loss{Hook: leftOut, Count: s.left, From: from}}
}

// told returns where the loss is inserted: before (0) or after (1) a recording's last event. An End stays last.
func (s *screen) told(last Event) int {
	if _, ended := last.Fact.(*End); ended {
		return 0
	}
	return 1
}

// hold reports whether an event is within the bounds of its kind, in a recording that begins at first.
func (b bounds) hold(v *boundVisitor, e *Event, first Time) bool {
	if e.Time < 0 || int64(e.Time) > maxTime || e.Time-first > maxSpan || first-e.Time > maxSpan {
		return false
	}
	kind := e.Fact.Kind()
	if kind <= KindNone || int(kind) >= len(b) {
		return true // of a newer version
	}
	*v = boundVisitor{at: e.Time, limits: b[kind]}
	e.Fact.Visit(v)
	return !v.wrong
}

// tooDeep reports whether a fact is a stack deeper than maxDepth.
func tooDeep(depths map[StackID]int, fact Fact) bool {
	s, ok := fact.(*Stack)
	if !ok {
		return false
	}
	depth := depths[s.Caller] + 1
	depths[s.ID] = depth
	return depth > maxDepth
}
