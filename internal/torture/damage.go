// Package torture makes damaged and hostile recordings out of sound ones: their form and their
// checksums are right, what they say is not. It changes facts, by what fields they have, so that
// it reaches what a change of bytes does not: whoever writes a recording can make its checksums.
package torture

import (
	"math"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Picker chooses one of n things, 0 to n-1: a *rand.Rand, or Bytes.
type Picker interface {
	IntN(n int) int
}

// Bytes picks as its bytes tell, and the first once they have run out: a fuzzer's input.
type Bytes []byte

// IntN implements Picker.
func (b *Bytes) IntN(n int) int {
	v := 0
	for range 3 {
		if len(*b) == 0 || n <= 1 {
			break
		}
		v = v<<8 | int((*b)[0])
		*b = (*b)[1:]
		if n <= 256 {
			break
		}
	}
	return v % max(n, 1)
}

// Damage changes some facts of a recording, in place where it can, and returns its events.
func Damage(events []recording.Event, changes int, by Picker) []recording.Event {
	d := &damager{Picker: by, events: events}
	for range changes {
		if len(d.events) == 0 {
			break
		}
		d.change()
	}
	return d.events
}

type damager struct {
	Picker
	events []recording.Event
}

func (d *damager) change() {
	i := d.one()
	switch d.IntN(12) {
	case 0:
		d.events[i].Time = recording.Time(d.number(int64(d.events[i].Time)))
	case 1:
		d.events = append(d.events[:i], d.events[i+1:]...)
	case 2:
		d.again(i)
	case 3:
		k := d.IntN(len(d.events))
		d.events[i].Fact, d.events[k].Fact = d.events[k].Fact, d.events[i].Fact
	case 4: // what another event of its kind says
		other := d.like(i)
		d.events[i].Fact.Visit(&fields{pick: d.IntN(fieldsOf(other)), from: fieldsIn(other), say: borrow})
	case 5: // the same change to all of its kind
		pick, seed := d.IntN(fieldsOf(d.events[i].Fact)), d.number(0)
		for k := range d.events {
			if d.events[k].Fact.Kind() == d.events[i].Fact.Kind() {
				d.events[k].Fact.Visit(&fields{pick: pick, say: func(f, _ *field) { f.set(seed, "") }})
			}
		}
	default:
		d.events[i].Fact.Visit(&fields{pick: d.IntN(fieldsOf(d.events[i].Fact)), say: func(f, _ *field) { d.alter(f) }})
	}
}

// one is the place of an event, of rare kinds as likely as of frequent ones.
func (d *damager) one() int {
	by := map[recording.Kind][]int{}
	var kinds []recording.Kind
	for i := range d.events {
		k := d.events[i].Fact.Kind()
		if by[k] == nil {
			kinds = append(kinds, k)
		}
		by[k] = append(by[k], i)
	}
	of := by[kinds[d.IntN(len(kinds))]]
	return of[d.IntN(len(of))]
}

// like is a fact of the same kind as that of a place.
func (d *damager) like(i int) recording.Fact {
	k := d.IntN(len(d.events))
	for range d.events {
		if d.events[k].Fact.Kind() == d.events[i].Fact.Kind() {
			break
		}
		k = (k + 1) % len(d.events)
	}
	return d.events[k].Fact
}

// again tells a fact many times.
func (d *damager) again(i int) {
	e, list := d.events[i], append([]recording.Event{}, d.events[:i]...)
	for range []int{1, 2, 50, 2000}[d.IntN(4)] {
		list = append(list, e)
	}
	d.events = append(list, d.events[i:]...)
}

// number is another one than v: far from it, at an edge, or near.
func (d *damager) number(v int64) int64 {
	switch d.IntN(4) {
	case 0:
		return v ^ 1<<d.IntN(64)
	case 1:
		near := []int64{1, -1, 1000, -1000, 1_000_000, -1_000_000, 1_000_000_000, -60_000_000_000}
		return v + near[d.IntN(len(near))]
	}
	edges := []int64{0, 1, -1, -2, 2, 1 << 16, 1 << 31, 1 << 40, 1 << 52, 1 << 57, 1 << 61, 1 << 62, -1 << 62, math.MaxInt64, math.MinInt64}
	return edges[d.IntN(len(edges))]
}

func (d *damager) alter(f *field) {
	if f.str == nil {
		f.set(d.number(*f.int), "")
		return
	}
	s := []string{"", "\x1b]0;x\x07", "\xff\xfe", strings.Repeat("x", 9000), strings.Repeat("é ", 70), "/a/b", "main", "futex", "127.0.0.1:80", *f.str + *f.str}
	f.set(0, s[d.IntN(len(s))])
}

// field is one of a fact: a number or a text.
type field struct {
	int *int64
	str *string
}

func (f *field) set(v int64, s string) {
	if f.int != nil {
		*f.int = v
	} else {
		*f.str = s
	}
}

func borrow(f, from *field) {
	switch {
	case f.int != nil && from.int != nil:
		*f.int = *from.int
	case f.str != nil && from.str != nil:
		*f.str = *from.str
	}
}

// fields is a Visitor that does something to one field, perhaps beside that of another fact.
type fields struct {
	next, pick int
	all        []field // if not nil: they are listed only
	list       bool
	from       []field
	say        func(f, from *field)
}

func (v *fields) see(f field) {
	switch {
	case v.list:
		v.all = append(v.all, f)
	case v.next == v.pick && v.next < len(v.from):
		v.say(&f, &v.from[v.next])
	case v.next == v.pick:
		v.say(&f, &f)
	}
	v.next++
}

// Int implements recording.Visitor.
func (v *fields) Int(_ string, n *int64) { v.see(field{int: n}) }

// Enum implements recording.Visitor.
func (v *fields) Enum(_ string, _ []string, n *int64) { v.see(field{int: n}) }

// Str implements recording.Visitor.
func (v *fields) Str(_ string, s *string) { v.see(field{str: s}) }

func fieldsIn(f recording.Fact) []field {
	v := &fields{list: true}
	f.Visit(v)
	return v.all
}

func fieldsOf(f recording.Fact) int { return len(fieldsIn(f)) }
