package diagnosis

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
		free.replace(begin + Time(j.Service))
	}
	return waits
}

// times is a heap with the earliest on top.
type times []Time

// replace puts another time in the place of the earliest.
func (t times) replace(by Time) {
	at := 0
	for {
		next := 2*at + 1
		if next >= len(t) {
			break
		}
		if next+1 < len(t) && t[next+1] < t[next] {
			next++
		}
		if by <= t[next] {
			break
		}
		t[at] = t[next]
		at = next
	}
	t[at] = by
}
