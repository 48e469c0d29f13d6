package timeline

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// TaskPools are strands that do what they are handed, one piece of work after the other, and wake whoever waits for the
// result. They are threads that wait for work at one futex, or processes that the service started. The owner of each
// piece need not be known: a piece ends when its strand wakes another.
type TaskPools struct {
	t     *Timeline
	of    map[recording.ThreadID]StrandID
	homes map[recording.ProcessID]recording.ProcessID // a process that serves maps to itself; a process that it started maps to the server's home
	owns  map[StrandID]bool                           // it serves requests itself
	ends  map[StrandID][]Time                         // when each is known to have ended a piece of work
	word  map[StrandID]int64                          // the futex at which each sleeps longest
	rests map[StrandID][]Stint

	pieces []*Piece
}

// Piece is a piece of work that a strand waits for.
type Piece struct {
	By       StrandID // the strand that ended it
	From, To Time     // when it was waited for
	Began    Time     // when By began it, as far as is known
	Queued   []Stint  // time before Began in a queue: no other member of By's pool waited for work
}

// FindTaskPools finds the task pools of all processes that serve requests.
func FindTaskPools(t *Timeline) *TaskPools {
	x := &TaskPools{t: t, of: map[recording.ThreadID]StrandID{}, homes: map[recording.ProcessID]recording.ProcessID{}, owns: map[StrandID]bool{},
		ends: map[StrandID][]Time{}, word: map[StrandID]int64{}, rests: map[StrandID][]Stint{}}
	for i := range t.Requests {
		x.homes[t.Requests[i].Process] = t.Requests[i].Process
		x.owns[t.Requests[i].Strand] = true
	}
	for i := range t.Processes { // a process's parent is declared before it
		if p := &t.Processes[i]; x.homes[p.ID] == recording.NoProcess && x.homes[p.Parent] != recording.NoProcess {
			x.homes[p.ID] = x.homes[p.Parent]
		}
	}
	jvms := map[recording.ProcessID]bool{}
	for i := range t.Processes {
		jvms[t.Processes[i].ID] = t.Processes[i].Runtime == recording.RuntimeJVM
	}
	for i := range t.Strands {
		s := &t.Strands[i]
		if s.Goroutine == recording.NoGoroutine && x.homes[s.Process] != recording.NoProcess && !(jvms[s.Process] && HotSpots(s.Name)) {
			x.of[s.Thread] = StrandID(i)
			x.word[StrandID(i)] = mostAt(s.Intervals)
		}
	}
	return x
}

// HotSpots reports whether a thread's name is that of one of HotSpot's own threads, which compile or collect and work
// for no request.
func HotSpots(name string) bool {
	return slices.ContainsFunc([]string{
		"GC Thread#", "G1 ", "ParGC Thread#", "ZWorker", "ZDriver", "ZDirector", "ZUnmapper", "ZStat", "Shenandoah", "VM Thread", "VM Periodic", "C1 Comp", "C2 Comp",
		"Sweeper thread", "Reference Handl", "Finalizer", "Signal Dispatch", "Service Thread", "Monitor Deflati", "Common-Cleaner", "Notification Th", "Attach Listener",
	}, func(own string) bool { return strings.HasPrefix(name, own) })
}

// mostAt returns the futex at which a strand sleeps longest; 0 if it sleeps at none.
func mostAt(intervals []Interval) (word int64) {
	at := map[int64]recording.Duration{}
	for i := range intervals {
		if iv := &intervals[i]; iv.State == StateSleeping && OnFutex(iv.Off) {
			at[iv.Off.Arg] += iv.To.Sub(iv.From)
			if d := at[iv.Off.Arg] - at[word]; word == 0 || d > 0 || d == 0 && iv.Off.Arg < word {
				word = iv.Off.Arg
			}
		}
	}
	return word
}

// besides reports whether two futex words belong to one thing that is waited at: a condition variable has several.
func besides(a, b int64) bool { return a != 0 && a-b < 64 && b-a < 64 }

// waker returns the strand that ended a sleep, if it may belong to a pool; else None.
func (x *TaskPools) waker(iv *Interval) StrandID {
	if iv.State != StateSleeping || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread || iv.Off.Woken == recording.NoTime {
		return None
	}
	if s, ok := x.of[iv.Off.Waker]; ok && iv.Off.Thread != iv.Off.Waker {
		return s
	}
	return None
}

func (x *TaskPools) sameProcess(a, b StrandID) bool {
	return x.t.Strands[a].Process == x.t.Strands[b].Process
}

// Ended notes which strand ended a strand's wait in a span, and when. That is a thread, or a process that told a thread
// of the waiting strand's process, which passed the news on. Ended returns nil if this is not known.
func (x *TaskPools) Ended(s StrandID, from, to Time) *Piece {
	by, at := x.endedBy(s, from, to)
	if by == None {
		return nil
	}
	x.ends[by] = append(x.ends[by], at)
	x.pieces = append(x.pieces, &Piece{By: by, From: from, To: at, Began: from})
	return x.pieces[len(x.pieces)-1]
}

func (x *TaskPools) endedBy(s StrandID, from, to Time) (by StrandID, at Time) {
	by, at = x.lastWaker(s, from, to, func(*Interval, StrandID) bool { return true })
	if by == None {
		return None, recording.NoTime
	}
	if x.sameProcess(by, s) {
		child, told := x.lastWaker(by, from, at, func(iv *Interval, c StrandID) bool { return c != None && !OnFutex(iv.Off) && !x.sameProcess(c, by) })
		switch {
		case child != None:
			by, at = child, told
		case x.owns[by]:
			return None, recording.NoTime
		}
	}
	return by, at
}

// lastWaker returns the strand that ended the last sleep of a strand in (from, to], of the sleeps that count, and when;
// None if no known strand did.
func (x *TaskPools) lastWaker(s StrandID, from, to Time, counts func(*Interval, StrandID) bool) (StrandID, Time) {
	list := Clipped(x.t.Strands[s].Intervals, from, to+1)
	for k := len(list) - 1; k >= 0; k-- {
		iv := &list[k]
		if iv.State != StateSleeping || iv.To <= from || iv.To > to {
			continue
		}
		if by := x.waker(iv); counts(iv, by) {
			return by, iv.To
		}
	}
	return None, recording.NoTime
}

// Mates returns the strands that do the same work as a strand, itself included: threads of its process that wait for
// work at the same place, or processes with the same parent.
func (x *TaskPools) Mates(s StrandID) (mates []StrandID) {
	away := x.away(s)
	for m := range x.ends {
		if m == s || x.away(m) == away && (away && !x.sameProcess(m, s) && x.parent(m) == x.parent(s) || !away && x.sameProcess(m, s) && besides(x.word[m], x.word[s])) {
			mates = append(mates, m)
		}
	}
	slices.Sort(mates)
	return mates
}

// away reports whether a strand belongs to a process that a serving process had started.
func (x *TaskPools) away(s StrandID) bool {
	p := x.t.Strands[s].Process
	return x.homes[p] != p
}

func (x *TaskPools) parent(s StrandID) recording.ProcessID {
	for i := range x.t.Processes {
		if p := &x.t.Processes[i]; p.ID == x.t.Strands[s].Process {
			return p.Parent
		}
	}
	return recording.NoProcess
}

// restsOf returns when a strand waits for work: at the futex at which it sleeps longest or, in a process that the
// service started, until another process of the service wakes it.
func (x *TaskPools) restsOf(s StrandID) []Stint {
	list, known := x.rests[s]
	if known {
		return list
	}
	away := x.away(s)
	for i := range x.t.Strands[s].Intervals {
		iv := &x.t.Strands[s].Intervals[i]
		if iv.State != StateSleeping || iv.Off == nil {
			continue
		}
		by := x.waker(iv)
		if away && by != None && !x.sameProcess(by, s) || !away && OnFutex(iv.Off) && besides(iv.Off.Arg, x.word[s]) {
			list = append(list, Stint{From: iv.From, To: iv.To})
		}
	}
	x.rests[s] = list
	return list
}

// Settle determines when each piece of work was begun. Pieces are served in order of arrival, and as many unfinished
// pieces are under way as the pool has members.
func (x *TaskPools) Settle() {
	for _, list := range x.ends {
		slices.Sort(list)
	}
	slices.SortStableFunc(x.pieces, func(a, b *Piece) int { return cmp.Compare(a.From, b.From) })
	mates, open := map[StrandID][]StrandID{}, map[StrandID][]Time{} // by the pool's first member: when its unfinished pieces end
	for _, p := range x.pieces {
		if mates[p.By] == nil {
			mates[p.By] = x.Mates(p.By)
		}
		all := mates[p.By]
		list := open[all[0]]
		n := sort.Search(len(list), func(k int) bool { return list[k] > p.From })
		list = list[n:]
		if ahead := len(list) - len(all); ahead >= 0 {
			p.Began = min(list[ahead], p.To)
		}
		i, _ := slices.BinarySearch(list, p.To)
		open[all[0]] = slices.Insert(list, i, p.To)
		x.settle(p, all)
	}
}

// settle corrects a piece by three observations: when the strand that ended it last waited for work, when that strand
// ended the previous piece, and when other members waited for work.
func (x *TaskPools) settle(p *Piece, mates []StrandID) {
	rests, ends := x.restsOf(p.By), x.ends[p.By]
	if i := sort.Search(len(rests), func(k int) bool { return rests[k].To > p.To }); i > 0 {
		p.Began = max(p.Began, rests[i-1].To)
	}
	if i := sort.Search(len(ends), func(k int) bool { return ends[k] >= p.To }); i > 0 {
		p.Began = max(p.Began, ends[i-1])
	}
	p.Queued = []Stint{{From: p.From, To: p.Began}}
	for _, m := range mates {
		p.Queued = outside(p.Queued, x.restsOf(m))
	}
}

// outside removes from spans what lies in others, which are in order.
func outside(list, others []Stint) (out []Stint) {
	for _, s := range list {
		i := sort.Search(len(others), func(k int) bool { return others[k].To > s.From })
		for ; i < len(others) && others[i].From < s.To; i++ {
			if others[i].From > s.From {
				out = append(out, Stint{From: s.From, To: others[i].From})
			}
			s.From = max(s.From, others[i].To)
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}
