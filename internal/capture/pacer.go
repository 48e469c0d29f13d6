//go:build linux && (amd64 || arm64)

package capture

import "time"

// The cost of recording is not noticeable to a service until it needs all of its processors and does so little work
// per event that recording the event adds a considerable part. Then dwell records windows, and rests between them.
const (
	// manyEvents is the number of events per second that is always acceptable: by the cost of further ones, a
	// saturated service loses a twentieth of its throughput to this many.
	manyEvents = 10_000
	// oneCost and manyCost are the shares that recording may cost: of one processor, or of all busy processors,
	// whichever is more.
	oneCost  = 0.03
	manyCost = 0.02
	// busyShare: a service or host has no time to spare if it uses this share of what it may use.
	busyShare = 0.9
	// longestRest bounds the time between two windows, so that some windows are recorded.
	longestRest = 9 * tickEvery
	// hidden: recording costs a saturated service this many times what recording's own clocks measure. A service
	// whose throughput was a quarter lower showed a cost of only a tenth of both processors.
	hidden = 2
	// eventLoses is the assumed share of throughput that a service loses per event and second, before any rest has
	// shown it; mostLoses bounds the total. Measured: 35,000 events/s cost a Go service a fifth to a quarter, 100,000
	// events/s cost a Node service a seventh to a fifth.
	eventLoses = 0.05 / manyEvents
	mostLoses  = 0.2
	// mayLose is the share of its throughput that a service may lose to windows. The loss is measured by what the
	// service writes in windows and between them: the cost of memory and caches that recording uses appears in no
	// program's own time.
	mayLose = 0.02
	// forgets is the weight of each window relative to the next one.
	forgets = 0.8
	// windowAnswers is the minimum ratio of a window's length to the duration of nearly all requests; otherwise a
	// window would cut too many of them.
	windowAnswers = 10
	// shortWindow is the length of windows after the first, if nearly all requests are short enough. More and shorter
	// windows over the same time observe more short-lived conditions.
	shortWindow = tickEvery / 2
)

// stretch describes what was just recorded: a second, or a window.
type stretch struct {
	took    time.Duration
	events  int64
	cost    time.Duration // of dwell, in the kernel and in user space
	busy    time.Duration // of all processors
	scarce  bool          // the service has no processor time to spare
	slowest time.Duration // nearly all requests took less
	writes  float64       // of watched processes, per second
	rested  float64       // the same in the rest before; 0: there was none
}

// pacer decides how long to rest after each stretch of recording.
type pacer struct {
	rests           int
	inside, between float64 // writes per second, in windows and between them, weighted towards later ones
}

// rest returns how long to pause, and the length of the window after that; 0: continue recording.
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

// eventRate returns events per second.
func (s *stretch) eventRate() float64 { return float64(s.events) / s.took.Seconds() }

// lost returns the share of throughput that a service loses in windows like this one.
func (p *pacer) lost(s stretch) float64 {
	if p.between == 0 {
		return min(s.eventRate()*eventLoses, mostLoses)
	}
	return 1 - p.inside/p.between
}

// uneven keeps windows out of step with regular activities of the service. It changes a rest by up to a quarter,
// using the fractional parts of multiples of the golden ratio, which are evenly distributed.
func (p *pacer) uneven(rest time.Duration) time.Duration {
	const golden = 0.6180339887498949
	x := float64(p.rests) * golden
	return time.Duration(float64(rest) * (0.75 + 0.5*(x-float64(int64(x)))))
}
