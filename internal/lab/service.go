// Package lab plays made-up services by discrete-event simulation, and writes their recordings. A Service has requests
// that come by chance, threads, processors, locks, pools, peers and disks; Record plays it, and NewTrial adds a Fault
// to it. Only queues and draws decide what happens: the package does not know what a diagnosis looks for. Each faulty
// service has a counterpart with the same requests and draws, whose fault is mended. This is the truth that a
// prediction is compared with.
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

// Service is what is played. Each request does what Does returns for it. Its draws come from a source of its own, so
// they do not depend on the other requests.
type Service struct {
	Runtime  recording.Runtime
	CPUs     int
	Threads  int // that serve, each with its own connection
	Requests int
	Gap      Time    // mean time between requests
	Burst    float64 // mean number that come at once; at most 1: each by itself
	Neighbor float64 // the share of the processors that another program takes
	Seed     uint64
	Does     func(number int, draw *rand.Rand) []Step
	Young    bool        // its process has just begun; otherwise it is not known when it began
	spared   func() Time // how much work was spared so far, because a fault is mended
}

// Step is one thing that a request does.
type Step struct {
	do        deed
	took      Time   // on a processor, or asleep
	code      string // functions, the innermost first, separated by " < "
	on        *Resource
	route     string
	elsewhere bool
	connect   Time // for a call on a connection of its own: the network's round trip
	late      Time // how long after it is sent the request leaves
	why       int64
	cached    bool // calls the second peer
	inTurn    int  // the instance of it that does one thing at a time
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

// company is how a call relates to the previous one. Recordings show nothing of this: only services whose fault is
// mended have it.
type company int

const (
	alone company = iota
	alongside
	inOne // it is a part of that call
)

// Compute uses a processor, in some code.
func Compute(d Time, code string) Step { return Step{do: compute, took: d, code: code} }

// Enter takes a resource. A thread that has to wait for it does so in the given code.
func Enter(r *Resource, code string) Step { return Step{do: enter, on: r, code: code} }

// Leave gives a resource back.
func Leave(r *Resource) Step { return Step{do: leave, on: r} }

// Call calls a peer, which takes d, on a connection that is kept.
func Call(d Time, route string) Step { return Step{do: call, took: d, route: route} }

// FreshCall is Call on a connection that is opened for it, over a network with the given round trip.
func FreshCall(d, connect Time, route string) Step {
	return Step{do: freshCall, took: d, route: route, connect: connect}
}

// Elsewhere makes a call go to a peer that no other call goes to: its connection is of no use to other calls.
func Elsewhere(s Step) Step {
	s.elsewhere = true
	return s
}

// LookUp looks up the address of a peer.
func LookUp(d Time) Step { return Step{do: lookUp, took: d} }

// Sleep does nothing for a time.
func Sleep(d Time) Step { return Step{do: sleep, took: d} }

// Draw waits for random numbers.
func Draw(d Time, code string) Step { return Step{do: draw, took: d, code: code} }

// Sync waits for a file to be on disk.
func Sync(d Time) Step { return Step{do: sync, took: d} }

// PageFault reads a page of a mapped file from storage.
func PageFault(d Time) Step { return Step{do: fault, took: d} }

// Start starts a program that computes for d, and waits for its end.
func Start(d Time) Step { return Step{do: start, took: d} }

// Resource is a lock, or a pool of a given size: a thread that wants one more waits, in order.
type Resource struct {
	size, used int
	waiting    []*thread
	word       int64 // the futex word that its threads wait on, for some ms at a time; 0: each thread has a word of its own
}

// NewLock makes a resource that one thread at a time can have.
func NewLock() *Resource { return NewPool(1) }

// NewPool makes a resource that size threads at a time can have.
func NewPool(size int) *Resource { return &Resource{size: size} }

// firstAfter is how long after the beginning of the recording the first requests come.
const firstAfter = 50 * Millisecond

// arrivals returns when requests come.
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

// steps returns the steps of a request.
func (s *Service) steps(i int) []Step {
	return s.Does(i, rand.New(rand.NewPCG(s.Seed, uint64(i)+1000)))
}
