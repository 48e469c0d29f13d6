//go:build linux && (amd64 || arm64)

package capture

import "time"

// Recording costs a service nothing that it notices, until it needs all of its processors
// and does so little for each event that recording this is a part of its work. Then dwell
// records windows, and rests between them.
const (
	// manyEvents is how many events a second are never too many: by what more of them cost, a
	// saturated service loses a twentieth of its throughput to so many.
	manyEvents = 10_000
	// oneCost and manyCost are what recording may cost of one processor, and of all that
	// are busy, where that is more.
	oneCost  = 0.03
	manyCost = 0.02
	// busyShare is how much of what it may use a service, or the host, uses that has
	// no time to spare.
	busyShare = 0.9
	// longestRest bounds the time between two windows, so that some are recorded.
	longestRest = 9 * tickEvery
	// hidden is how many times what recording takes by its own clocks it costs a service that is
	// saturated: one that did a quarter less counted a tenth of both processors.
	hidden = 2
	// eventLoses is how much of its throughput a service is taken to lose to each event a second,
	// before any rest has shown it, and mostLoses to all of them: 35,000 lost one of Go a fifth to
	// a quarter, 100,000 one of Node a seventh to a fifth.
	eventLoses = 0.05 / manyEvents
	mostLoses  = 0.2
	// mayLose is how much of its throughput a service may lose to windows. What it writes in them
	// and between them tells how much that is: memory and caches that recording takes are in no
	// program's own time.
	mayLose = 0.02
	// forgets is how much less each window counts than the next.
	forgets = 0.8
	// windowAnswers is how many times longer a window is than nearly all requests, or
	// those that it cuts would be too many.
	windowAnswers = 10
	// shortWindow is the length of windows after the first, if nearly all requests are short enough:
	// more of them, spread over the same time, see more of what comes and goes.
	shortWindow = tickEvery / 2
)

// stretch is what the pacer is told of what was just recorded: a second, or a window.
type stretch struct {
	took    time.Duration
	events  int64
	cost    time.Duration // of dwell, in the kernel and beside it
	busy    time.Duration // of all processors
	scarce  bool          // the service has no processor time to spare
	slowest time.Duration // nearly all requests took less
	writes  float64       // of watched processes
	rested  float64       // the same in a second of the rest before; 0: there was none
}

// pacer decides how long to rest after each stretch of recording.
type pacer struct {
	rests           int
	inside, between float64 // writes a second, in windows and between them, the later the more
}

// rest is how long to pause, and how long the window is after that; 0: go on recording.
func (p *pacer) rest(s stretch) (rest, window time.Duration) {
	if s.rested > 0 {
		p.inside, p.between = forgets*p.inside+s.writes, forgets*p.between+s.rested
	}
	window = shortWindow
	if s.slowest*windowAnswers > window {
		window = tickEvery
	}
	if !s.scarce || s.eventRate() <= manyEvents || s.slowest*windowAnswers > window {
		return 0, 0
	}
	may := max(oneCost*float64(s.took), manyCost*float64(s.busy))
	times := max(hidden*float64(s.cost)/may, p.lost(s)/mayLose)
	rest = time.Duration(times*float64(s.took)) - s.took
	if rest <= 0 {
		return 0, 0
	}
	p.rests++
	return min(p.uneven(rest), longestRest), window
}

// eventRate is events a second.
func (s *stretch) eventRate() float64 { return float64(s.events) / s.took.Seconds() }

// lost is how much of its throughput a service loses in windows such as this.
func (p *pacer) lost(s stretch) float64 {
	if p.between == 0 {
		return min(s.eventRate()*eventLoses, mostLoses)
	}
	return 1 - p.inside/p.between
}

// uneven keeps windows out of step with what the service does at regular intervals: it
// changes a rest by up to a quarter, by the fractional parts of multiples of the golden
// ratio, which are spread evenly.
func (p *pacer) uneven(rest time.Duration) time.Duration {
	const golden = 0.6180339887498949
	x := float64(p.rests) * golden
	return time.Duration(float64(rest) * (0.75 + 0.5*(x-float64(int64(x)))))
}
