package facts

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// goFacts are what Go programs reported about their goroutines.
type goFacts struct {
	Origins map[timeline.GoroutineKey]goOrigin
	Runs    []goRunAt // in order of time
}

// goRunAt is when a goroutine began to run on a thread, or yielded it.
type goRunAt struct {
	At recording.Time
	*recording.GoRun
}

// goOrigin is when a goroutine was first seen, and which goroutine started it.
type goOrigin struct {
	Seen   recording.Time
	Parent recording.GoroutineID
}

// GoCallAt is when a goroutine handed a request to a connection.
type GoCallAt struct {
	At recording.Time
	*recording.GoCall
}

// goFact takes facts about goroutines.
func (f *Facts) goFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Goroutine:
		if f.Goroutines.Origins == nil {
			f.Goroutines.Origins = map[timeline.GoroutineKey]goOrigin{}
		}
		k := timeline.GoroutineKey{Process: x.Process, Goroutine: x.ID}
		if _, ok := f.Goroutines.Origins[k]; !ok {
			f.Goroutines.Origins[k] = goOrigin{at, x.Parent}
		}
	case *recording.GoProcs:
		if i, ok := f.ProcIndex[x.Process]; ok {
			f.Processes[i].Procs = x.Procs
		}
	case *recording.GoRun:
		f.see(x.Thread, at)
		f.Goroutines.Runs = append(doubled(f.Goroutines.Runs), goRunAt{at, x})
	case *recording.GoCall:
		f.see(x.Thread, at)
		c := f.conn(x.Conn)
		c.GoCalls = append(c.GoCalls, GoCallAt{at, x})
	default:
		return false
	}
	return true
}

// GoKeyOf returns the key of a goroutine that was seen on a thread.
func (f *Facts) GoKeyOf(th recording.ThreadID, g recording.GoroutineID) timeline.GoroutineKey {
	return timeline.GoroutineKey{Process: f.thread(th).Process, Goroutine: g}
}

// parkFacts are the facts about goroutines that wait for each other, in order of time.
type parkFacts struct {
	Parks   []Park
	Unparks []Unpark
	Pauses  []pauseAt
}

// Park is when a goroutine waited for another one.
type Park struct {
	At recording.Time
	*recording.Park
}

// Unpark is when a goroutine let another one continue.
type Unpark struct {
	At recording.Time
	*recording.Unpark
}

type pauseAt struct {
	At recording.Time
	*recording.Pause
}

// parkFact takes the facts of parkFacts.
func (f *Facts) parkFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Park:
		f.see(x.Left, x.Since)
		f.see(x.Thread, at)
		f.Parks.Parks = append(doubled(f.Parks.Parks), Park{at, x})
	case *recording.Unpark:
		f.see(x.Thread, at)
		f.Parks.Unparks = append(doubled(f.Parks.Unparks), Unpark{at, x})
	case *recording.Pause:
		f.see(x.Thread, at)
		f.Parks.Pauses = append(f.Parks.Pauses, pauseAt{at, x})
	default:
		return false
	}
	return true
}

// wordKey is what an Unpark releases: an address, or a goroutine.
type wordKey struct {
	process recording.ProcessID
	word    int64
	woken   recording.GoroutineID
}

func keyOf(p recording.ProcessID, word int64, woken recording.GoroutineID) wordKey {
	if word != 0 {
		woken = recording.NoGoroutine
	}
	return wordKey{p, word, woken}
}

// Unparks lists the releases, by what they release.
type Unparks map[wordKey][]Unpark

// Unparked lists all releases.
func (f *Facts) Unparked() Unparks {
	of := Unparks{}
	for _, u := range f.Parks.Unparks {
		k := keyOf(f.GoKeyOf(u.Thread, u.Woken).Process, u.Word, u.Woken)
		of[k] = append(of[k], u)
	}
	return of
}

// Ending returns the Unpark that ended a wait: the last release within it.
func (x Unparks) Ending(process recording.ProcessID, p Park) *Unpark {
	list := x[keyOf(process, p.Word, p.Goroutine)]
	i := sort.Search(len(list), func(n int) bool { return list[n].At > p.At })
	if i == 0 || list[i-1].At < p.Since || p.Open == 1 {
		return nil
	}
	return &list[i-1]
}
