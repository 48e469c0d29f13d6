package main

import (
	"errors"
	"fmt"

	"github.com/getdwell/dwell/recording"
)

// seed is a recording with a middle that can be played again and again: from one instant
// at which no request is open to another. What is before and after it is played once.
type seed struct {
	before, middle, after []recording.Event
	from, to              recording.Time
	requests              int                                      // that come in in the middle
	asleep                map[recording.ThreadID]recording.Time    // since when each thread sleeps at the end of the middle
	sent                  map[way]int64                            // bytes of the middle
	asked                 map[recording.ConnID]recording.Direction // which way requests go
	counter               int64                                    // ids that Node had given out when the middle began
	counted               int64                                    // and gives out in it
}

// way is one direction of a connection.
type way struct {
	conn recording.ConnID
	dir  recording.Direction
}

// newSeed finds the longest middle of a recording whose connections stay open.
func newSeed(rec *recording.Recording) (*seed, error) {
	first, last := quiet(rec.Events)
	if last <= first {
		return nil, errors.New("there are no two instants without an open request in it (record a service that has time to spare)")
	}
	e := rec.Events
	s := &seed{
		before: e[:first+1], middle: e[first+1 : last+1], after: e[last+1:], from: e[first].Time, to: e[last].Time,
		asleep: map[recording.ThreadID]recording.Time{}, sent: map[way]int64{}, asked: map[recording.ConnID]recording.Direction{},
	}
	for i := range s.before {
		s.counter = max(s.counter, counterOf(s.before[i].Fact))
		if c, ok := s.before[i].Fact.(*recording.Conn); ok {
			s.asked[c.ID] = recording.Read
			if c.Side == recording.Outbound {
				s.asked[c.ID] = recording.Write
			}
		}
	}
	for i := range s.middle {
		s.counted = max(s.counted, counterOf(s.middle[i].Fact)-s.counter)
		switch x := s.middle[i].Fact.(type) {
		case *recording.HTTPRequest:
			if s.asked[x.Conn] == recording.Read {
				s.requests++
			}
		case *recording.Chunk:
			s.sent[way{x.Conn, x.Dir}] += x.Bytes
		case *recording.Conn, *recording.Closed, *recording.Thread, *recording.TLS, *recording.Command:
			return nil, fmt.Errorf("a %T is in its middle: only services at rest, asked over HTTP on connections that stay open, can be repeated", x)
		}
	}
	for i := range s.after {
		id, since := sleepOf(s.after[i].Fact)
		if _, known := s.asleep[id]; !known {
			s.asleep[id] = since
		}
	}
	return s, nil
}

// quiet returns the first and the last event after which nothing is under way. The first
// is behind what says that something was not seen yet, and behind the last connection.
func quiet(events []recording.Event) (first, last int) {
	begun := make([]recording.Time, len(events)+1) // of the events from each on, when the earliest had begun
	begun[len(events)] = 1 << 62
	for i := len(events) - 1; i >= 0; i-- {
		begun[i] = min(begun[i+1], events[i].Time)
		if x, ok := events[i].Fact.(*recording.Chunk); ok && x.Arrived != recording.NoTime {
			begun[i] = min(begun[i], x.Arrived, x.First)
		}
	}
	open := map[recording.ConnID]int{}
	busy := 0
	for i := range events {
		change := 0
		switch x := events[i].Fact.(type) {
		case *recording.Unseen, *recording.Conn:
			first, last = 0, 0
		case *recording.HTTPRequest:
			change, open[x.Conn] = 1, open[x.Conn]+1
		case *recording.HTTPResponse:
			if open[x.Conn] > 0 { // else it answers what was sent before recording began
				change, open[x.Conn] = -1, open[x.Conn]-1
			}
		}
		if busy += change; change == -1 && busy == 0 && begun[i+1] > events[i].Time {
			if last = i; first == 0 {
				first = i
			}
		}
	}
	return first, last
}

// counterOf is how many ids Node had given out, as a fact says; 0 if it does not.
func counterOf(f recording.Fact) int64 {
	switch x := f.(type) {
	case *recording.Chunk:
		return x.Counter
	case *recording.Off:
		return x.Counter
	}
	return 0
}

// sleepOf is the thread whose sleep a fact tells, or none, and since when it slept.
func sleepOf(f recording.Fact) (recording.ThreadID, recording.Time) {
	switch x := f.(type) {
	case *recording.Off:
		return x.Thread, x.Since
	case *recording.ThreadState:
		return x.Thread, x.Since
	}
	return recording.NoThread, recording.NoTime
}

// times is how often the middle has to be played for so many requests.
func (s *seed) times(requests int) int { return max(1, (requests+s.requests-1)/s.requests) }

// write writes a recording in which the middle is played so often.
func (s *seed) write(w *recording.Writer, times int) error {
	whole := func(turn int) func(recording.Event) (recording.Event, bool) {
		return func(e recording.Event) (recording.Event, bool) {
			e, _ = s.shift(e, turn)
			return e, true
		}
	}
	if err := writeAll(w, s.before, whole(0)); err != nil {
		return err
	}
	for turn := range times {
		if err := writeAll(w, s.middle, func(e recording.Event) (recording.Event, bool) { return s.shift(e, turn) }); err != nil {
			return err
		}
	}
	err := writeAll(w, s.after, whole(times-1))
	return errors.Join(err, w.Close())
}

func writeAll(w *recording.Writer, events []recording.Event, change func(recording.Event) (recording.Event, bool)) error {
	for _, e := range events {
		e, ok := change(e)
		if !ok {
			continue
		}
		if err := w.Write(e); err != nil {
			return err
		}
	}
	return nil
}

// shift makes an event that of the given turn of the middle, counted from 0. What is
// declared, and what is sampled of the whole host, is there once: it returns false.
func (s *seed) shift(e recording.Event, turn int) (recording.Event, bool) {
	by, n := recording.Time(turn)*(s.to-s.from), int64(turn)
	e.Time += by
	switch x := e.Fact.(type) {
	case *recording.Chunk:
		c := *x
		c.Offset += n * s.sent[way{x.Conn, x.Dir}]
		later(by, &c.Arrived, &c.Last, &c.First)
		s.renumber(n, &c.Exec, &c.Trigger, &c.Counter)
		e.Fact = &c
	case *recording.HTTPRequest:
		r := *x
		r.Offset += n * s.sent[way{x.Conn, s.asked[x.Conn]}]
		e.Fact = &r
	case *recording.HTTPResponse:
		r := *x
		r.Offset += n * s.sent[way{x.Conn, 1 - s.asked[x.Conn]}]
		e.Fact = &r
	case *recording.Off:
		o := *x
		later(by, &o.Woken)
		s.renumber(n, &o.Counter)
		o.Since = s.since(x.Thread, x.Since, turn)
		e.Fact = &o
	case *recording.ThreadState:
		state := *x
		state.Since = s.since(x.Thread, x.Since, turn)
		e.Fact = &state
		return e, turn == 0
	case *recording.StackAt, *recording.Sample, *recording.Boundary:
	default:
		return e, turn == 0
	}
	return e, true
}

// later shifts times that are known.
func later(by recording.Time, times ...*recording.Time) {
	for _, at := range times {
		if *at != recording.NoTime {
			*at += by
		}
	}
}

// renumber shifts ids that Node gave out in the middle.
func (s *seed) renumber(turns int64, ids ...*int64) {
	for _, id := range ids {
		if *id > s.counter {
			*id += turns * s.counted
		}
	}
}

// since is the beginning of a sleep in a turn. One that the middle begins in began when
// the thread went to sleep at the end of the turn before.
func (s *seed) since(id recording.ThreadID, since recording.Time, turn int) recording.Time {
	by := recording.Time(turn) * (s.to - s.from)
	switch {
	case since >= s.from:
		return since + by
	case turn > 0 && s.asleep[id] >= s.from:
		return s.asleep[id] + by - (s.to - s.from)
	}
	return since
}
