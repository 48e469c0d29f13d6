package diagnosis

import "container/heap"

// Job is one piece of work for a single server, in order of arrival.
type Job struct {
	Arrive  Time
	Service Duration
}

// Waits replays jobs through one server that takes them in order (Lindley's
// recursion) and returns how long each waits before its service begins.
func Waits(jobs []Job) []Duration {
	waits := make([]Duration, len(jobs))
	for i := 1; i < len(jobs); i++ {
		gap := jobs[i].Arrive.Sub(jobs[i-1].Arrive)
		waits[i] = max(0, waits[i-1]+jobs[i-1].Service-gap)
	}
	return waits
}

// WaitsOf replays jobs, in order of arrival, through so many servers, each of which
// takes the next one when it is free, and returns how long each waits.
func WaitsOf(jobs []Job, servers int) []Duration {
	free := make(times, max(1, servers))
	waits := make([]Duration, len(jobs))
	for i, j := range jobs {
		begin := max(j.Arrive, free[0])
		waits[i] = begin.Sub(j.Arrive)
		free[0] = begin + Time(j.Service)
		heap.Fix(free, 0)
	}
	return waits
}

// times is a heap with the earliest on top.
type times []Time

func (t times) Len() int           { return len(t) }
func (t times) Less(i, k int) bool { return t[i] < t[k] }
func (t times) Swap(i, k int)      { t[i], t[k] = t[k], t[i] }
func (t times) Push(any)           {}
func (t times) Pop() any           { return nil }
