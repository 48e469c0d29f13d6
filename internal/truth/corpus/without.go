package corpus

import "github.com/getdwell/dwell/recording"

// Blindness is a group of facts that a recording may lack: the kernel refused their probe,
// the runtime is of a version in which its place is not known, or a budget was spent.
type Blindness struct {
	Name string
	drop func(recording.Fact) recording.Fact // the fact without them; nil if nothing is left
}

// Blindnesses are those that the corpus is judged under, beside what was recorded: what
// decides whose a call is must have something to fall back on.
func Blindnesses() []Blindness {
	return []Blindness{
		{"no waiters", func(f recording.Fact) recording.Fact {
			b, ok := f.(*recording.Boundary)
			switch {
			case !ok:
				return f
			case b.What == "awaited" || b.What == "moved":
				return nil
			}
			less := *b
			less.Waiter = 0
			return &less
		}},
		{"no promises", withoutPromises},
		{"no ids", func(f recording.Fact) recording.Fact {
			if f = withoutPromises(f); f == nil {
				return nil
			}
			switch x := f.(type) {
			case *recording.Chunk:
				less := *x
				less.Exec, less.Trigger, less.Counter = 0, 0, 0
				return &less
			case *recording.Conn:
				less := *x
				less.Exec, less.Trigger, less.Counter = 0, 0, 0
				return &less
			case *recording.Off:
				less := *x
				less.Counter = 0
				return &less
			}
			return f
		}},
		{"no contexts", func(f recording.Fact) recording.Fact {
			switch x := f.(type) {
			case *recording.Context, *recording.Taken:
				return nil
			case *recording.Chunk:
				less := *x
				less.Context, less.Contexts = 0, 0
				return &less
			}
			return f
		}},
		{"no queues", func(f recording.Fact) recording.Fact {
			if _, ok := f.(*recording.Taken); ok {
				return nil
			}
			return f
		}},
	}
}

// withoutPromises leaves of what Node tells only that timers run.
func withoutPromises(f recording.Fact) recording.Fact {
	if b, ok := f.(*recording.Boundary); ok && b.What != "timers" && b.What != "immediates" && b.What != "poll" {
		return nil
	}
	return f
}

// Of returns a recording without these facts; false if it has none of them.
func (b Blindness) Of(rec *recording.Recording) (*recording.Recording, bool) {
	less, any := *rec, false
	less.Events = nil
	for _, e := range rec.Events {
		f := b.drop(e.Fact)
		any = any || tells(e.Fact, f)
		if f != nil {
			e.Fact = f
			less.Events = append(less.Events, e)
		}
	}
	return &less, any
}

// tells reports whether a fact says more than what was left of it.
func tells(all, left recording.Fact) bool {
	switch x := all.(type) {
	case *recording.Chunk:
		return x.Exec+x.Counter != 0 && left.(*recording.Chunk).Counter == 0 || x.Context != 0 && left.(*recording.Chunk).Context == 0
	case *recording.Boundary:
		return left == nil && x.What != "spent" || left != nil && x.Waiter != left.(*recording.Boundary).Waiter
	}
	return left == nil
}

// Amid returns a recording as if it had begun when a third of what was read and written had
// been: connections are open, requests stand in line, and calls are under way.
func Amid(rec *recording.Recording) *recording.Recording {
	var chunks []recording.Time
	for _, e := range rec.Events {
		if _, ok := e.Fact.(*recording.Chunk); ok {
			chunks = append(chunks, e.Time)
		}
	}
	begun := chunks[len(chunks)/3]
	late := *rec
	late.Events = nil
	for _, e := range rec.Events {
		if e.Time < begun {
			switch x := e.Fact.(type) {
			case *recording.Chunk, *recording.HTTPRequest, *recording.HTTPResponse, *recording.Command, *recording.Reply,
				*recording.TLS, *recording.Boundary, *recording.GoCall, *recording.Established:
				continue
			case *recording.Conn:
				open := *x
				open.Existing = 1
				e.Fact = &open
			}
		}
		late.Events = append(late.Events, e)
	}
	return &late
}
