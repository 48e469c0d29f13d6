//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// settle is longer than any program takes that is running when recording pauses.
	settle = time.Millisecond
	// restDrain is how often the ring is emptied during a rest: threads still begin and end.
	restDrain = 250 * time.Millisecond
	// usersAtMost bounds for how many processes the used CPU time is read.
	usersAtMost = 64
)

// missingRests is the code for errors between two windows of recording.
const missingRests = "rests"

// usage holds the readings from whose differences the pacer's figures are computed.
type usage struct {
	at                      time.Time
	events, cost, throttled int64
	writes                  int64 // of watched processes, also while recording pauses
	cpus                    map[int]target.BusyIdle
	used                    map[uint32]int64 // CPU time by process, in ns
}

// measure takes the current readings.
func (s *Session) measure() usage {
	cost := s.meter.read()
	now := usage{at: time.Now(), writes: s.meter.writes(), events: s.decoder.count, cost: cost.UserCPU + cost.BPF, throttled: s.throttled, used: s.usedBy()}
	now.cpus, _ = target.CPUs() // if it fails, no processor is known to be busy
	return now
}

// pace pauses if what was just recorded cost too much. It returns for how long, and the length of the window after
// that.
func (s *Session) pace(sink Sink) (rest, window time.Duration, err error) {
	if s.paused != recording.NoTime || s.resting == nil || !s.joining.over { // the cost of what is still being loaded is not that of recording
		return 0, 0, nil
	}
	was, now := s.before, s.measure()
	s.before = now
	rest, window = s.resting(stretch{
		took: now.at.Sub(was.at), writes: perSecond(was, now), rested: s.rested,
		events: now.events - was.events, cost: time.Duration(now.cost - was.cost), busy: time.Duration(now.since(was, nil).Busy),
		scarce:  now.throttled > was.throttled || s.oneIsFull(was, now),
		slowest: s.decoder.live.quantile(99),
	})
	if rest == 0 {
		return 0, 0, nil
	}
	return rest, window, s.rest(sink)
}

// usedBy returns how much CPU time the watched processes have used. If there are many, it reads the same ones each
// time, because only differences matter.
func (s *Session) usedBy() map[uint32]int64 {
	used := map[uint32]int64{}
	for _, pid := range slices.Sorted(maps.Keys(s.decoder.processes)) {
		if len(used) == usersAtMost {
			break
		}
		if s.decoder.processes[pid].ended != recording.NoTime {
			continue
		}
		if ns, err := target.CPUTime(int(pid)); err == nil {
			used[pid] = ns
		}
	}
	return used
}

// since returns how long processors were busy and idle since an earlier reading: those of a set, or all.
func (u usage) since(was usage, of *unix.CPUSet) (sum target.BusyIdle) {
	for n, now := range u.cpus {
		if before, known := was.cpus[n]; known && (of == nil || of.IsSet(n)) {
			sum.Busy += now.Busy - before.Busy
			sum.Idle += now.Idle - before.Idle
		}
	}
	return sum
}

// oneIsFull reports whether a process has no time to spare: the processors on which it may run are busy, or it used
// up one processor and its runtime runs only one thread at a time.
func (s *Session) oneIsFull(was, now usage) bool {
	for pid, ns := range now.used {
		switch s.decoder.processes[pid].fact.Runtime {
		case recording.RuntimeNode, recording.RuntimePython, recording.RuntimeRuby:
			if before, known := was.used[pid]; known && float64(ns-before) >= busyShare*float64(now.at.Sub(was.at)) {
				return true
			}
		}
		set, err := target.Processors(int(pid))
		if err != nil {
			continue
		}
		if t := now.since(was, &set); t.Busy > 0 && float64(t.Busy) >= busyShare*float64(t.Busy+t.Idle) {
			return true
		}
	}
	return false
}

// rest stops recording threads and connections, after recording their current state.
func (s *Session) rest(sink Sink) error {
	s.dumpTasks(s.decoder.threadState)
	if err := s.setGaps(); err != nil {
		return err
	}
	time.Sleep(settle)
	s.flushFlows()
	if err := s.drain(sink); err != nil {
		return err
	}
	s.decoder.pause()
	if err := errors.Join(s.pauseGroups(), s.timers.disable()); err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact(missingRests, err.Error())}) // it then costs as much as before
	}
	s.restGo(time.Now())
	s.before = s.measure()
	s.paused = max(clock(), s.decoder.now)
	return s.write(sink)
}

// finishWindow collects the state of connections and threads when a recording ends. In a rest that is already done.
func (s *Session) finishWindow(sink Sink) error {
	if s.paused != recording.NoTime {
		return nil
	}
	s.flushFlows()
	if err := s.drain(sink); err != nil {
		return err
	}
	s.dumpTasks(s.decoder.threadState)
	return nil
}

// goOn ends a rest, or reports that it continues because the programs cannot be attached again now. Sleeping threads
// are known from now on, connections when they are next used.
func (s *Session) goOn(sink Sink) (rests bool, err error) {
	if err := s.drain(sink); err != nil {
		return false, err
	}
	if err := s.resumeGroups(); err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact(missingRests, fmt.Sprintf("recording rested for longer than it should: %v", err))})
		return true, nil
	}
	s.decoder.paused = false
	if err := s.tellGap(sink); err != nil {
		return false, err
	}
	s.paused = recording.NoTime
	if err := s.timers.enable(); err != nil {
		s.lacking("goroutine-samples", err)
	}
	if err := s.setGaps(); err != nil {
		return false, err
	}
	s.dumpTasks(s.decoder.threadState)
	now := s.measure()
	s.rested, s.before = perSecond(s.before, now), now
	return false, s.write(sink)
}

// perSecond is how often per second watched processes wrote between two readings.
func perSecond(was, now usage) float64 {
	took := now.at.Sub(was.at)
	if took <= 0 {
		return 0
	}
	return float64(now.writes-was.writes) / took.Seconds()
}

// tellGap writes that recording has paused until now, if it has. It is also called during a pause, so that a killed
// recorder leaves that information.
func (s *Session) tellGap(sink Sink) error {
	if s.paused == recording.NoTime {
		return nil
	}
	now := clock()
	gap := recording.Event{Time: now, Fact: &recording.Gap{From: s.paused}}
	s.paused = now
	return sink.Write(gap)
}

// setGaps makes the programs pause or continue.
func (s *Session) setGaps() error {
	s.gaps++
	err := s.objects.Gaps.Set(s.gaps)
	if s.exits != nil {
		err = errors.Join(err, s.exits.maps.Variables[exitsVarGaps].Set(s.gaps))
	}
	if s.unwinder != nil {
		err = errors.Join(err, s.unwinder.SetGaps(s.gaps))
	}
	if err != nil {
		return fmt.Errorf("pause recording: %w", err)
	}
	return nil
}
