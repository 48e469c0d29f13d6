//go:build linux && (amd64 || arm64)

package capture

import (
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
)

// metSet is a set of probes with a rate, in hits a second, at which it would be hit.
type metSet struct {
	probeSet
	rate int
	met  uint64
	on   time.Duration
}

// play simulates a span of time. The sets, in order of rank, are hit at their rates while they are attached, and
// for a tenth of a second after they are detached.
func play(rates []int, span time.Duration) (sets []*metSet) {
	const step = 10 * time.Millisecond
	now := time.Unix(1000, 0)
	l := &goLedger{share: 0.03}
	for i, rate := range rates {
		s := &metSet{rate: rate}
		s.rank, s.hit = i, 8*time.Microsecond
		s.hits = func() (uint64, time.Duration) { return s.met, 0 }
		sets = append(sets, s)
		l.enter(now, &s.probeSet)
	}
	for end := now.Add(span); now.Before(end); now = now.Add(step) {
		for _, s := range sets {
			if !s.off {
				s.on += step
			}
			if !s.off || now.Sub(s.since) < 100*time.Millisecond {
				s.met += uint64(s.rate / 100)
			}
		}
		l.settle(now, func(do func()) { do() })
	}
	return sets
}

// A hit takes 8 us, and all may cost 3 % of a CPU: 3,750 hits a second.
func TestGoShare(t *testing.T) {
	const minute = time.Minute
	for _, c := range []struct {
		name  string
		rates []int
		least []time.Duration // for which each set is attached
		most  []time.Duration
	}{
		{"all is within", []int{2000, 1000, 500}, []time.Duration{minute, minute, minute}, []time.Duration{minute, minute, minute}},
		{"the last one is too much", []int{2000, 0, 8000}, []time.Duration{minute, minute, time.Second}, []time.Duration{minute, minute, 15 * time.Second}},
		{"one is too much, what comes after it is not", []int{12_000, 100, 20_000}, []time.Duration{time.Second, minute, time.Second / 10}, []time.Duration{10 * time.Second, minute, 5 * time.Second}},
		{"all are too much", []int{12_000, 50_000, 100_000}, []time.Duration{time.Second / 2, time.Second / 10, time.Second / 20}, []time.Duration{6 * time.Second, 2 * time.Second, time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			total := time.Duration(0)
			for i, s := range play(c.rates, minute) {
				total += s.cost()
				if s.on < c.least[i] || s.on > c.most[i] {
					t.Errorf("at %d hits a second it was there for %v, want %v to %v", s.rate, s.on, c.least[i], c.most[i])
				}
			}
			if share := float64(total) / float64(minute); share > 0.033 {
				t.Errorf("they cost %.1f %% of a CPU", 100*share)
			}
		})
	}
}

// When a process ends, a set of probes drops what it holds for that process, also while the set is detached.
func TestProbesOfAProcessThatEnds(t *testing.T) {
	var p probeSet
	closed := map[int]int{}
	for _, pid := range []int{7, 8} {
		p.probes = append(p.probes, probe{site: probeSite{pid: pid}})
		p.keep(pid, []io.Closer{closing(func() { closed[pid]++ })})
	}
	p.forget(7)
	p.forget(9) // it had no probes
	if len(p.probes) != 1 || p.probes[0].site.pid != 8 || closed[7] != 1 || closed[8] != 0 {
		t.Fatalf("left: %+v, closed: %v", p.probes, closed)
	}
	p.detach()
	p.forget(8)
	if len(p.probes) > 0 || closed[8] != 1 {
		t.Errorf("left: %+v, closed: %v", p.probes, closed)
	}
}

// closing is a function that Close calls.
type closing func()

func (c closing) Close() error { c(); return nil }

// A set of probes reports each of its absences once: when it is back, or at the end.
func TestAbsencesOfProbes(t *testing.T) {
	var p probeSet
	now := func(do func()) { do() }
	counts := func(end bool) int {
		list := p.takeAbsences(end)
		for _, a := range list {
			if a.from > a.to || a.from == 0 {
				t.Errorf("away from %d to %d", a.from, a.to)
			}
		}
		return len(list)
	}
	p.change(time.Now(), now)
	if counts(false) != 0 {
		t.Error("it is still away")
	}
	p.change(time.Now(), now)
	if counts(false) != 1 || counts(false) != 0 {
		t.Error("it was away once")
	}
	p.change(time.Now(), now)
	if counts(true) != 1 {
		t.Error("it was away at the end")
	}
}

// A process can have probes in different files, as when it runs another executable than before: the probes of each
// file are attached separately.
func TestProbesOfTwoFilesInOneProcess(t *testing.T) {
	before, now := target.CodeFile{Path: "/proc/7/exe"}, target.CodeFile{Path: "/proc/7/root/lib.so"}
	groups := byFile([]probe{
		{site: probeSite{7, before, 1}}, {site: probeSite{7, now, 2}}, {site: probeSite{8, before, 3}}, {site: probeSite{7, before, 4}},
	})
	var offsets [][]uint64
	for _, g := range groups {
		var list []uint64
		for _, p := range g {
			list = append(list, p.site.offset)
		}
		offsets = append(offsets, list)
	}
	if want := [][]uint64{{1, 4}, {2}, {3}}; !reflect.DeepEqual(offsets, want) {
		t.Errorf("got %v, want %v", offsets, want)
	}
}
