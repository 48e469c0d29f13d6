//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/getdwell/dwell/recording"
)

// What probes on Go programs may cost, as shares of one CPU. Probes that every request hits share one budget.
// Probes that are hit only if goroutines wait for locks have another: a service has many such waits only if they
// are worth seeing.
const (
	goShare     = 0.03
	goLockShare = 0.05
	// goTrials is for a set of probes that costs more than is left to it. Such a set is attached for moments only.
	// What a moment costs is spread over time, at half of the share that is left, or at this share if that is more.
	goTrials = 0.005
	// goSaved is the time for which unspent budget is kept. If the recording rests between windows, sets can then
	// stay attached in a window for long enough to see whole requests.
	goSaved = 3 * time.Second
	// goReserve is the time whose budget has to be unspent before a set comes back.
	goReserve = time.Second
)

// goLedgers account for what the probes on Go programs cost.
type goLedgers struct {
	mu     sync.Mutex // programs are loaded beside the recording
	often  goLedger   // hit in every request
	waits  goLedger   // hit if goroutines wait for locks
	queues goLedger   // of Python's queues
}

// newGoLedgers allows the probes that every request hits a share of one CPU; 0: goShare.
func newGoLedgers(share float64) goLedgers {
	if share == 0 {
		share = goShare
	}
	return goLedgers{
		often: goLedger{share: share, of: "Go"}, waits: goLedger{share: max(share, goLockShare), of: "Go"},
		queues: goLedger{share: queueShare, of: "Python", trials: queueShare},
	}
}

func (g *goLedgers) all() []*goLedger { return []*goLedger{&g.often, &g.waits, &g.queues} }

// enter adds sets to one of the ledgers.
func (g *goLedgers) enter(l *goLedger, sets ...*probeSet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.enter(time.Now(), sets...)
}

// sets lists the sets of all ledgers.
func (g *goLedgers) sets() (sets []*probeSet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.all() {
		sets = append(sets, l.sets...)
	}
	return sets
}

// cost is what the probes have cost so far, traps included, in ns.
func (g *goLedgers) cost() (total int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.all() {
		for _, s := range l.sets {
			total += int64(s.cost() - s.measured)
		}
	}
	return total
}

// missing reports what was not seen because it would have cost too much.
func (g *goLedgers) missing(now time.Time) (missing []recording.Missing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.all() {
		for _, s := range l.sets {
			if s.detached == 0 {
				continue
			}
			missing = append(missing, recording.Missing{What: s.code, Count: s.detached, Timed: 1, Why: fmt.Sprintf(
				"%s: not seen for %d ms, as such probes on %s programs may cost %d per mille of a CPU together, and a hit costs %d ns",
				s.what, s.spare(now).Milliseconds(), l.of, int(1000*l.share), s.hit.Nanoseconds())})
		}
	}
	return missing
}

// close detaches all probes.
func (g *goLedgers) close() {
	var links []io.Closer
	for _, s := range g.sets() {
		links = append(links, s.hooked()...)
		s.links = nil
	}
	closeAll(links)
}

// forgetGo drops the probes of processes that have ended, beside the recording.
func (s *Session) forgetGo(ended []uint32) {
	if len(ended) == 0 {
		return
	}
	for _, set := range s.goLedgers.sets() {
		for _, pid := range ended {
			s.workers.Go(func() { set.forget(int(pid)) })
		}
	}
}

// keepGoWithin keeps the probes on Go programs within their budgets.
func (s *Session) keepGoWithin(now time.Time) {
	if s.paused != recording.NoTime {
		s.restGo(now) // sets that were still being attached when the rest began
	}
	s.goLedgers.mu.Lock()
	defer s.goLedgers.mu.Unlock()
	if s.paused == recording.NoTime {
		for _, l := range s.goLedgers.all() {
			s.forgetParksOf(l.settle(now, s.workers.Go))
		}
	}
	s.tellAbsences(false)
}

// forgetParksOf drops the waits that began under sets of probes that were detached.
func (s *Session) forgetParksOf(gone []*probeSet) {
	for _, set := range gone {
		if set.park > 0 {
			s.decoder.forgetParks(set.park-1, s.decoder.now)
		}
	}
}

// restGo detaches all probes while the recording rests. They come back like other detached sets, the most important
// first.
func (s *Session) restGo(now time.Time) {
	s.goLedgers.mu.Lock()
	defer s.goLedgers.mu.Unlock()
	for _, l := range s.goLedgers.all() {
		for _, set := range l.sets {
			if !set.off && set.change(now, s.workers.Go) {
				s.forgetParksOf([]*probeSet{set})
			}
		}
	}
}

// finishGo records what was not seen of Go programs, up to the end.
func (s *Session) finishGo() {
	s.decoder.note(s.goLedgers.missing(time.Now()))
	s.goLedgers.mu.Lock()
	s.tellAbsences(true)
	s.goLedgers.mu.Unlock()
	s.finishHooking()
	s.finishGoParks()
	s.finishGoProcs()
}

// tellAbsences records when sets of probes were away. A wait that was seen to begin while they were being detached
// was not seen to end, so it is dropped.
func (s *Session) tellAbsences(end bool) {
	for _, l := range s.goLedgers.all() {
		for _, set := range l.sets {
			for _, a := range set.takeAbsences(end) {
				s.decoder.unseen(recording.NoProcess, set.name, a)
				if set.park > 0 {
					s.decoder.forgetParks(set.park-1, a.to)
				}
			}
		}
	}
}

// goLedger divides what probes may cost among sets of them, the most important first. A set costs what its hits
// cost, and how often it is hit shows only while it is attached.
type goLedger struct {
	share  float64 // of one CPU
	of     string  // the programs' language, in messages
	trials float64 // used instead of goTrials if it is larger
	sets   []*probeSet
	left   time.Duration
	at     time.Time // of the last settling
}

// enter adds sets, which are attached from now on.
func (l *goLedger) enter(now time.Time, sets ...*probeSet) {
	if len(l.sets) == 0 {
		l.left, l.at = l.reserve(), now
	}
	for _, s := range sets {
		s.measured = s.cost()
		s.spent = s.measured
	}
	l.sets = append(l.sets, sets...)
	slices.SortStableFunc(l.sets, func(a, b *probeSet) int { return a.rank - b.rank })
}

// most is the most that may be spent at once.
func (l *goLedger) most() time.Duration {
	return time.Duration(l.share * float64(goSaved))
}

// reserve is what has to be left before a set comes back.
func (l *goLedger) reserve() time.Duration {
	return time.Duration(l.share * float64(goReserve))
}

// settle charges what the sets have cost since the last call. Once nothing is left, it detaches each set that costs
// more than the more important sets leave to it. Sets come back one at a time, once the cost of the last stay is
// paid for and the full reserve is available. Both happen beside the recording. It returns the sets that it
// detached.
func (l *goLedger) settle(now time.Time, beside func(func())) (gone []*probeSet) {
	passed := now.Sub(l.at)
	l.at = now
	l.left += time.Duration(l.share * float64(passed))
	for _, s := range l.sets {
		l.left -= s.charge(now, passed)
	}
	l.left = min(l.left, l.most())
	switch {
	case l.left <= 0:
		return l.evict(now, beside)
	case l.left >= l.reserve():
		l.readmit(now, beside)
	}
	return nil
}

// readmit brings back the most important set whose rest is over.
func (l *goLedger) readmit(now time.Time, beside func(func())) {
	for _, s := range l.sets {
		if s.off && now.After(s.rested) && s.change(now, beside) {
			return
		}
	}
}

// evict detaches the sets that cost too much.
func (l *goLedger) evict(now time.Time, beside func(func())) (gone []*probeSet) {
	share := l.share
	for _, s := range l.sets {
		switch {
		case s.off:
		case s.rate() <= share:
			share -= s.rate()
		case s.change(now, beside):
			s.trials = max(l.trials, goTrials, share/2)
			s.rested = now.Add(paid(min(s.stint, l.reserve()), s.trials))
			gone = append(gone, s)
		}
	}
	return gone
}

// paid returns how long it takes to pay for a cost at a share of one CPU; the share counts as goTrials at least.
func paid(cost time.Duration, share float64) time.Duration {
	return time.Duration(float64(cost) / max(share, goTrials))
}
