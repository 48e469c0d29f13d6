// Package lab plays services that were made up, by discrete-event simulation, and writes their
// recordings: requests that come by chance, threads, processors, locks, pools, peers, disks. What
// happens is decided by queues and draws alone; the package knows nothing of what a diagnosis
// looks for. Beside each faulty service stands the same one, with the same requests and draws,
// whose fault is mended: the truth that a prediction is held against.
package lab

import (
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// Time is in ns, as in recordings.
type Time = recording.Time

// Units of Time.
const (
	Microsecond Time = 1000
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Service is what is played. Each request goes through what Does returns for it, which is drawn
// from a source of its own: the same, whatever the others do.
type Service struct {
	Runtime  recording.Runtime
	CPUs     int
	Threads  int // that serve, each its own connection
	Requests int
	Gap      Time    // mean time between requests
	Burst    float64 // how many come at once, in the mean; at most 1: each by itself
	Neighbor float64 // the share of the processors that another program takes
	Seed     uint64
	Does     func(number int, draw *rand.Rand) []Step
	Young    bool        // its process has just begun; else it is not known when
	spared   func() Time // what has not been done of it so far, as a fault is mended
}

// Step is one thing that a request does.
type Step struct {
	do        deed
	took      Time   // on a processor, or asleep
	code      string // where: functions, the innermost first, with " < " between
	on        *Resource
	route     string
	elsewhere bool
	connect   Time // of a call on a connection of its own: the network's round trip
	late      Time // after which its request has left
	why       int64
	cached    bool // asks the second peer
	inTurn    int  // that instance of it does one thing at a time
	with      company
}

type deed int

const (
	compute deed = iota
	enter
	leave
	call
	freshCall
	lookUp
	sleep
	draw
	sync
	fault
	start
)

// company is how a call goes with the one before it. Recordings show none of that: only services
// whose fault is mended have it.
type company int

const (
	alone company = iota
	alongside
	inOne // it is a part of that call
)

// Compute uses a processor, in some code.
func Compute(d Time, code string) Step { return Step{do: compute, took: d, code: code} }

// Enter takes a resource, in some code: one who has to wait does so in that.
func Enter(r *Resource, code string) Step { return Step{do: enter, on: r, code: code} }

// Leave gives a resource back.
func Leave(r *Resource) Step { return Step{do: leave, on: r} }

// Call asks a peer, which takes so long, on a connection that is kept.
func Call(d Time, route string) Step { return Step{do: call, took: d, route: route} }

// FreshCall is Call on a connection that is made for it over a network with that round trip.
func FreshCall(d, connect Time, route string) Step {
	return Step{do: freshCall, took: d, route: route, connect: connect}
}

// Elsewhere is a call to a peer that no other call goes to: its connection is of use to none.
func Elsewhere(s Step) Step {
	s.elsewhere = true
	return s
}

// LookUp asks for the address of a peer.
func LookUp(d Time) Step { return Step{do: lookUp, took: d} }

// Sleep does nothing for a time.
func Sleep(d Time) Step { return Step{do: sleep, took: d} }

// Draw waits for random numbers.
func Draw(d Time, code string) Step { return Step{do: draw, took: d, code: code} }

// Sync waits for a file to be on disk.
func Sync(d Time) Step { return Step{do: sync, took: d} }

// PageFault reads a page of a mapped file from storage.
func PageFault(d Time) Step { return Step{do: fault, took: d} }

// Start starts a program that computes for so long, and waits for its end.
func Start(d Time) Step { return Step{do: start, took: d} }

// Resource is a lock, or a pool of so many: who wants one more waits, in order.
type Resource struct {
	size, used int
	waiting    []*thread
	word       int64 // in which its threads sleep; 0: each in one of its own; else they try for some ms at a time
}

// NewLock makes what one thread has at a time.
func NewLock() *Resource { return NewPool(1) }

// NewPool makes what so many have at a time.
func NewPool(size int) *Resource { return &Resource{size: size} }

// firstAfter is how long after the recording's begin requests come.
const firstAfter = 50 * Millisecond

// arrivals are when requests come.
func (s *Service) arrivals() []Time {
	r := rand.New(rand.NewPCG(s.Seed, 1))
	list, at := make([]Time, 0, s.Requests), firstAfter
	burst := max(1, s.Burst)
	for len(list) < s.Requests {
		at += Time(r.ExpFloat64() * float64(s.Gap) * burst)
		n := 1
		for burst > 1 && r.Float64() > 1/burst {
			n++
		}
		for range min(n, s.Requests-len(list)) {
			list = append(list, at)
			at += Time(r.IntN(20_000))
		}
	}
	return list
}

// steps are those of a request.
func (s *Service) steps(i int) []Step {
	return s.Does(i, rand.New(rand.NewPCG(s.Seed, uint64(i)+1000)))
}
