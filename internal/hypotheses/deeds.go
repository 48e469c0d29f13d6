package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// deedKind is what the holder of a lock did with it, by what could be done about that.
type deedKind int8

const (
	deedUnknown deedKind = iota // the holder, or what it did, is not known
	deedCPU                     // it computed, or was ready to
	deedIO                      // it waited for a peer, a disk, a timer
	deedEntropy                 // it waited for random numbers
	deedFault                   // it slept in a page fault
	deedOther                   // it waited for something else: a pool, a condition, the collector
	deedAsleep                  // it waited for something unknown
	deedKinds
)

// deed is a span in which the holder of a lock did one thing.
type deed struct {
	from, to diagnosis.Time
	kind     deedKind
	cause    timeline.Cause
	later    bool              // stack is only where it let the lock go afterwards
	strand   timeline.StrandID // the strand that did it, or None
	call     timeline.CallID   // the call that it waited for, or None
	stack    timeline.StackID  // where in the code, or None
	lock     timeline.LockID   // the last lock of the chain: the holder waited for it, and the holder of that did this
	syscall  string            // asleep: the system call in which it slept
	child    bool              // it waited for a program that its process started
}

// deeds keeps, by lock, what its holders did while others waited for it.
type deeds struct {
	c           *diagnosis.Case
	entropy     []bool // by stack: whether it draws random numbers
	of          map[timeline.LockID][]deed
	had         map[timeline.LockID][]timeline.Hold
	ran, wanted Duration // see demands; wanted is 0 until they are computed
}

// newDeeds returns the deeds of a case; its callers share them.
func newDeeds(c *diagnosis.Case) *deeds {
	return c.Shared("deeds", func() any { return makeDeeds(c) }).(*deeds)
}

func makeDeeds(c *diagnosis.Case) *deeds {
	return &deeds{c: c, entropy: entropyStacks(c), of: map[timeline.LockID][]deed{}, had: map[timeline.LockID][]timeline.Hold{}}
}

// tenures lists which strands had a lock while others waited for it, in order, disjoint.
func (d *deeds) tenures(id timeline.LockID) []timeline.Hold {
	list, ok := d.had[id]
	if !ok && id != timeline.None {
		list = d.c.Tenures(id)
		d.had[id] = list
	}
	return list
}

// demands returns how long the watched threads ran while requests were measured, and
// how long they ran or wanted to.
func (d *deeds) demands() (ran, wanted Duration) {
	if d.wanted > 0 {
		return d.ran, d.wanted
	}
	from, to := d.c.Busy()
	for i := range d.c.Strands {
		id := timeline.StrandID(i)
		on := d.c.Running(id, from, to)
		d.ran += on
		d.wanted += on + d.c.In(id, timeline.StateRunnable, from, to)
	}
	return d.ran, d.wanted
}

// lock returns what the holders of a lock did while others waited for it, in order, disjoint. If a holder waited for
// another lock, it is what the holder of that lock did.
func (d *deeds) lock(id timeline.LockID) []deed {
	if list, ok := d.of[id]; ok {
		return list
	}
	d.of[id] = nil // of locks that wait for each other in a circle nothing is known
	var list []deed
	var did []timeline.Activity
	for _, h := range d.tenures(id) {
		did = d.c.DoingIn(did, h.Strand, h.From, h.To)
		for _, a := range did {
			list = d.addOrHelped(list, id, h.Strand, a)
		}
	}
	d.of[id] = list
	return list
}

// addOrHelped is add, except for waits for another strand and for unknown activities of a goroutine. While the holder's
// request waits for a call, or for what another strand does for it (such as to look a name up), so does the holder.
func (d *deeds) addOrHelped(list []deed, id timeline.LockID, strand timeline.StrandID, a timeline.Activity) []deed {
	if a.Cause != timeline.CauseCondition && (a.Cause != timeline.CauseUnknown || d.c.Strands[strand].Goroutine == recording.NoGoroutine) {
		return d.add(list, id, strand, a)
	}
	for _, r := range d.servedBy(strand, a.From, a.To) {
		for g := d.c.Requests[r].Segments(); g.Next() && g.From < a.To; {
			switch g.Cause {
			case timeline.CauseRemote, timeline.CauseDisk, timeline.CauseIPC, timeline.CauseSleep:
			default:
				continue
			}
			if g.To <= a.From {
				continue
			}
			before, helped := a, a
			before.To = max(a.From, g.From)
			helped.From, helped.To = before.To, min(g.To, a.To)
			helped.Cause, helped.Call, helped.Wait, helped.Asleep = g.Cause, g.Call, timeline.None, false
			if before.From < before.To {
				list = d.add(list, id, strand, before)
			}
			list = d.add(list, id, strand, helped)
			a.From = helped.To
		}
	}
	if a.From < a.To {
		list = d.add(list, id, strand, a)
	}
	return list
}

// servedBy returns the requests that a strand serves in a span, in order.
func (d *deeds) servedBy(s timeline.StrandID, from, to diagnosis.Time) []timeline.RequestID {
	of := d.c.Shared("requests by strand", func() any {
		of := map[timeline.StrandID][]timeline.RequestID{}
		for i := range d.c.Requests {
			of[d.c.Requests[i].Strand] = append(of[d.c.Requests[i].Strand], timeline.RequestID(i))
		}
		for _, list := range of {
			slices.SortStableFunc(list, func(a, b timeline.RequestID) int { return cmp.Compare(d.c.Requests[a].Start, d.c.Requests[b].Start) })
		}
		return of
	}).(map[timeline.StrandID][]timeline.RequestID)
	list := of[s]
	i, _ := slices.BinarySearchFunc(list, from+1, func(r timeline.RequestID, at diagnosis.Time) int { return cmp.Compare(d.c.Requests[r].End, at) })
	n, _ := slices.BinarySearchFunc(list, to, func(r timeline.RequestID, at diagnosis.Time) int { return cmp.Compare(d.c.Requests[r].Start, at) })
	return list[i:max(i, n)]
}

func (d *deeds) add(list []deed, id timeline.LockID, strand timeline.StrandID, a timeline.Activity) []deed {
	at := deed{from: a.From, to: a.To, strand: strand, call: a.Call, cause: a.Cause, stack: a.Stack, later: a.Later, syscall: a.Syscall, lock: id}
	if a.Wait != timeline.None {
		w := &d.c.Waits[a.Wait]
		if w.Lock != timeline.None && w.Lock != id {
			return d.follow(list, at, w.Lock)
		}
		at.child = w.Rule == timeline.RuleChild
	}
	at.kind = d.kind(&a)
	if n := len(list); n > 0 {
		last := &list[n-1]
		if last.to == at.from && last.kind == at.kind && last.strand == at.strand && last.call == at.call && last.stack == at.stack && last.lock == at.lock && last.child == at.child {
			last.to = at.to
			return list
		}
	}
	return append(list, at)
}

// follow puts what the holders of another lock did in the place of a wait for it.
func (d *deeds) follow(list []deed, at deed, other timeline.LockID) []deed {
	end := at.to
	for _, next := range meanwhile(d.lock(other), at.from, end) {
		next.from, next.to = max(next.from, at.from), min(next.to, end)
		if next.from > at.from {
			gap := at
			gap.to, gap.kind, gap.lock = next.from, deedUnknown, other
			list = append(list, gap)
		}
		list = append(list, next)
		at.from = next.to
	}
	if at.from < end {
		at.kind, at.lock = deedUnknown, other
		list = append(list, at)
	}
	return list
}

// meanwhile returns the deeds that touch a span.
func meanwhile(list []deed, from, to diagnosis.Time) []deed {
	i, _ := slices.BinarySearchFunc(list, from+1, func(x deed, t diagnosis.Time) int { return cmp.Compare(x.to, t) })
	n, _ := slices.BinarySearchFunc(list, to, func(x deed, t diagnosis.Time) int { return cmp.Compare(x.from, t) })
	return list[i:max(i, n)]
}

// kind sorts what a holder did.
func (d *deeds) kind(a *timeline.Activity) deedKind {
	switch a.Cause {
	case timeline.CauseOnCPU, timeline.CauseRunnable:
		return deedCPU
	case timeline.CausePageFault:
		return deedFault
	}
	if a.Syscall == "getrandom" || d.draws(a.Stack) && reads(a.Syscall) {
		return deedEntropy
	}
	switch a.Cause {
	case timeline.CauseRemote, timeline.CauseDisk, timeline.CauseSleep, timeline.CauseClient, timeline.CauseIPC:
		return deedIO
	case timeline.CauseUnknown:
		if reads(a.Syscall) || network(a.Syscall) {
			return deedIO
		}
		if a.Asleep {
			return deedAsleep
		}
		return deedUnknown
	}
	return deedOther
}

// draws reports whether a stack draws random numbers.
func (d *deeds) draws(id timeline.StackID) bool { return id != timeline.None && d.entropy[id] }

// reads reports whether a thread waits in a system call for what a file or device has.
func reads(syscall string) bool {
	switch syscall {
	case "read", "readv", "pread64", "preadv", "preadv2":
		return true
	}
	return false
}

// network reports whether a thread waits in a system call for a socket.
func network(syscall string) bool {
	switch syscall {
	case "write", "writev", "recvfrom", "recvmsg", "sendto", "sendmsg", "connect", "poll", "ppoll", "select", "pselect6",
		"epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}
