//go:build linux && amd64

package capture

import "time"

// Recording costs a service nothing that it notices, until it needs all of its processors
// and does so little for each event that recording this is a part of its work. Then dwell
// records windows, and rests between them.
const (
	// manyEvents is how many events a second are never too many: they cost a tenth of a
	// processor or less.
	manyEvents = 40_000
	// oneCost and manyCost are what recording may cost of one processor, and of all that
	// are busy, where that is more.
	oneCost  = 0.03
	manyCost = 0.02
	// busyShare is how much of what it may use a service, or the host, uses that has
	// no time to spare.
	busyShare = 0.9
	// longestRest bounds the time between two windows, so that some are recorded.
	longestRest = 9 * tickEvery
	// windowAnswers is how many times longer a window is than nearly all requests, or
	// those that it cuts would be too many.
	windowAnswers = 10
)

// second is what the pacer is told of the one that was just recorded.
type second struct {
	events  int64
	cost    time.Duration // of dwell, in the kernel and beside it
	busy    time.Duration // of all processors
	scarce  bool          // the service has no processor time to spare
	slowest time.Duration // nearly all requests took less
}

// pacer decides how long to rest after each second of recording.
type pacer struct {
	rests int
}

// rest is how long to pause; 0: go on recording.
func (p *pacer) rest(s second) time.Duration {
	if !s.scarce || s.events <= manyEvents || s.slowest*windowAnswers > tickEvery {
		return 0
	}
	may := max(oneCost*float64(tickEvery), manyCost*float64(s.busy))
	rest := time.Duration(float64(s.cost)/may*float64(tickEvery)) - tickEvery
	if rest <= 0 {
		return 0
	}
	p.rests++
	return min(p.uneven(rest), longestRest)
}

// uneven keeps windows out of step with what the service does at regular intervals: it
// changes a rest by up to a quarter, by the fractional parts of multiples of the golden
// ratio, which are spread evenly.
func (p *pacer) uneven(rest time.Duration) time.Duration {
	const golden = 0.6180339887498949
	x := float64(p.rests) * golden
	return time.Duration(float64(rest) * (0.75 + 0.5*(x-float64(int64(x)))))
}
