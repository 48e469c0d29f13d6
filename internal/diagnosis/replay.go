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
