package waits

import (
	"fmt"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// ServedBy returns the request that a goroutine, or one of its ancestors, served at a time; None if none did.
type ServedBy func(timeline.GoroutineKey, recording.Time) timeline.RequestID

// Assign determines the request of each Wait, once it is known which strand served which request, and finds the waits
// for what requests give back and for results they share.
func (s *Sleeps) Assign(o timeline.Stints, ancestors ServedBy) {
	s.assignThreads(o)
	s.assignParks(ancestors)
	s.giveBacks()
	s.sharedResults()
}

// Finish determines the lock of each Wait and its holders. Segments are made without it.
func (s *Sleeps) Finish() {
	s.locks()
	s.holders()
	s.measure()
}

// assignThreads determines for which request each thread waited: one it served, or one that was handed over to it.
func (s *Sleeps) assignThreads(o timeline.Stints) {
	t := s.t
	s.owners, s.parts = o, timeline.Hands(t)
	for i := range t.Waits {
		w := &t.Waits[i]
		w.Request = o.At(w.Strand, w.From)
		if w.Request == timeline.None {
			w.Request = s.parts.At(w.Strand, w.From)
		}
		if w.Rule == timeline.RuleIdle {
			w.Request = timeline.None
		}
	}
}

// lockKey identifies what a wait is for: waits with equal keys are for the same thing.
type lockKey struct {
	process recording.ProcessID
	kind    timeline.Cause
	address int64
	site    string
	file    recording.FileID // the file whose lock it is; NoFile: not known
}

// locks lists what is waited for.
func (s *Sleeps) locks() {
	t, ids := s.t, map[lockKey]timeline.LockID{}
	for i := range t.Waits {
		w := &t.Waits[i]
		key, site := s.lockKey(w)
		if key.kind == timeline.CauseUnknown {
			continue
		}
		id, ok := ids[key]
		if !ok {
			id = timeline.LockID(len(t.Locks))
			ids[key] = id
			t.Locks = append(t.Locks, timeline.Lock{Process: key.process, Kind: key.kind, Name: key.site, Address: key.address, Stack: timeline.None})
		}
		l := &t.Locks[id]
		if l.Stack == timeline.None && w.Stack != timeline.None {
			l.Stack = w.Stack
			if site != timeline.None {
				l.Name = symbol.Name(t.Frames[site])
			}
		}
		if l.Name == "" && key.file != recording.NoFile {
			l.Name = "file " + t.FileName(w.Off)
		}
		w.Lock = id
		l.Waits = append(l.Waits, timeline.WaitID(i))
	}
	for i := range t.Locks {
		l := &t.Locks[i]
		switch {
		case l.Kind == timeline.CauseInterpreterLock:
			l.Name = "interpreter lock"
		case l.Name == "":
			l.Name = fmt.Sprintf("%#x", l.Address)
		}
	}
}

// lockKey returns the key of what a Wait was for, and the frame that names it, or None. The kind is CauseUnknown if
// nothing identifies it.
func (s *Sleeps) lockKey(w *timeline.Wait) (lockKey, timeline.FrameID) {
	t := s.t
	key := lockKey{process: t.Strands[w.Strand].Process, kind: w.Cause}
	switch w.Cause {
	case timeline.CauseInterpreterLock:
		return key, timeline.None
	case timeline.CauseLock:
		if w.Rule == timeline.RuleShared {
			return s.siteKey(key, t.SiteFrame(w.Stack))
		}
		site := t.FrameOf(w.Stack, symbol.IsBeyondLocks)
		if w.Off != nil && lockOfFile(w.Off) {
			if key.process = recording.NoProcess; w.Off.File != recording.NoFile {
				key.file = w.Off.File
				return key, site
			}
		}
		if timeline.FutexWait(w.Off.Syscall) && s.wordIsLock(w) {
			if w.Off.Arg == 0 { // asleep since before the recording
				return lockKey{}, timeline.None
			}
			key.address = w.Off.Arg
			if w.Rule == "mutex" || w.Rule == "rwlock" { // machine code took it, whatever called that
				site = t.NativeSite(w.Stack)
			}
			return key, site
		}
		return s.siteKey(key, site)
	case timeline.CausePool:
		if w.Rule != timeline.RuleGiveBack {
			frame := s.book.of(w.Stack, s.f.Runtime(key.process)).frame
			if frame != timeline.None && s.book.own[frame] {
				return s.siteKey(key, frame)
			}
		}
		return s.siteKey(key, t.SiteFrame(w.Stack))
	case timeline.CauseCondition:
		if w.Rule != timeline.RuleIdle {
			return s.siteKey(key, t.SiteFrame(w.Stack))
		}
	}
	return lockKey{}, timeline.None
}

func (s *Sleeps) siteKey(key lockKey, site timeline.FrameID) (lockKey, timeline.FrameID) {
	if site == timeline.None {
		return lockKey{}, timeline.None
	}
	key.site = s.book.names[site]
	if f := s.t.Frames[site]; f.Type != recording.FrameJVM { // class names are unique in a JVM
		key.site += " in " + f.File + f.Module
	}
	return key, site
}

// wordIsLock reports whether the futex word identifies the lock: it does in CPython, and for glibc's own locks. HotSpot
// and Ruby park each thread on its own words.
func (s *Sleeps) wordIsLock(w *timeline.Wait) bool {
	switch w.Rule {
	case timeline.RuleOwner, "mutex", "rwlock", "py-lock":
		return true
	}
	switch s.f.Runtime(s.t.Strands[w.Strand].Process) {
	case recording.RuntimeJVM, recording.RuntimeRuby:
		return false
	}
	return true
}

// measure sums up how much of the time that requests waited has a stack.
func (s *Sleeps) measure() {
	t := s.t
	for i := range t.Waits {
		w := &t.Waits[i]
		d := w.To.Sub(w.From)
		if d < longWait || w.Request == timeline.None && (len(t.Requests) > 0 || w.Rule == timeline.RuleIdle || w.From <= t.Start) {
			continue
		}
		switch {
		case w.Stack == timeline.None:
			t.WaitStacks.None += d
		case w.Borrowed:
			t.WaitStacks.Borrowed += d
		default:
			t.WaitStacks.Own += d
		}
	}
}
