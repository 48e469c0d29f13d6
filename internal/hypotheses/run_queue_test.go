package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// Waits for processors on a host with idle time may be what a hypervisor took. That is reported, with what shows it.
func TestStolenTimeIsSaid(t *testing.T) {
	c := caseOf(t, done(starved(), 50))
	for stolen, said := range map[diagnosis.Share]bool{0: false, diagnosis.Whole / 5: true} {
		cd := waitsBeside(c, host{busy: diagnosis.Whole / 2, stolen: stolen}, nil, []diagnosis.Evidence{diagnosis.Part("", diagnosis.Whole/3)})
		if got := strings.Contains(cd.Title, "a hypervisor gave 20 % of the processors' time to other machines") && strings.HasPrefix(cd.Decide, "vmstat 1"); got != said {
			t.Errorf("stolen %s: said %v\n%s\n%s", diagnosis.Percent(stolen), got, cd.Title, cd.Decide)
		}
	}
}

// What waits for processors were behind is reported if it is known of half of their time. What is in front most says
// what to try.
func TestWhatWaitsForProcessorsAreBehind(t *testing.T) {
	c := caseOf(t, done(starved(), 50))
	for _, x := range []struct {
		ahead     inFrontOf
		who, next string
	}{
		{inFrontOf{own: 70 * milli, idle: 30 * milli}, "; of that 70 % behind other threads of the service, 30 % until an idle processor was awake", "about its own threads: requests seldom overlap"},
		{inFrontOf{idle: 60 * milli, programs: tally{"backup": 40 * milli}}, "; of that 60 % until an idle processor was awake, 40 % behind other programs (backup)", "about idle processors: accept"},
		{inFrontOf{programs: tally{"a": 30 * milli, "b": 50 * milli, "c": 18 * milli, "": 2 * milli}}, "; of that 100 % behind other programs (b 50 %, a 30 %)", "move b and a to another host for a while, and record again"},
		{inFrontOf{programs: tally{"dwell": 60 * milli, "backup": 40 * milli}}, "; of that 100 % behind other programs (dwell 60 %, backup 40 %)", "move backup to another host"},
		{inFrontOf{programs: tally{"dwell": 100 * milli}}, "; of that 100 % behind other programs (dwell)", "accept the waits for dwell itself"},
		{inFrontOf{programs: tally{"": 80 * milli}, own: 4 * milli}, "; of that 80 % behind other programs", "move the programs that run then"},
		{inFrontOf{taken: 90 * milli, own: 10 * milli}, "; of that 90 % while interrupts or a hypervisor had the processor, 10 % behind other threads of the service", "about interrupts: see with vmstat 1"},
		{inFrontOf{idle: 40 * milli}, "", "dwell threads REC --when 'runnable>2'"},
	} {
		who, next, _ := x.ahead.story(c, 100*milli, 2)
		if who != x.who || !strings.HasPrefix(next, x.next) {
			t.Errorf("%q\n%q", who, next)
		}
	}
}

// What to try about a service's own threads depends on the processors that it may use, and on whether requests overlap.
func TestWhatToTryAboutOwnThreads(t *testing.T) {
	for _, x := range []struct {
		of   *scenario
		may  int64
		next string
	}{
		{starved(), 0, "requests seldom overlap"},
		{starved(), 2, "requests seldom overlap"},
		{starved(), 1, "let the service use more than 1 of the host's 2 processors"},
		{overloaded(), 2, "let fewer requests compute at once"},
	} {
		c := caseOf(t, done(x.of, 50))
		c.Processes[0].CPUs = x.may
		if got := ownThreads(c); !strings.HasPrefix(got, x.next) {
			t.Errorf("of 2 processors %d: %q, want %q", x.may, got, x.next)
		}
		if got, all := (&host{cpus: 2}).unstopped(c), x.may == 2; strings.Contains(got, "may use all of them") != all || strings.Contains(got, "may use 1 of them") != (x.may == 1) {
			t.Errorf("of 2 processors %d: %q", x.may, got)
		}
	}
}

// Time behind idle processors is neither the service's own work nor that of other programs.
func TestSharesOfWhatThreadsWaitBehind(t *testing.T) {
	a := inFrontOf{own: 30 * milli, idle: 20 * milli, programs: tally{"backup": 50 * milli}}
	if own, others, known := a.shares(); own != diagnosis.Whole*3/10 || others != diagnosis.Whole/2 || !known {
		t.Errorf("%d and %d of a million, known: %v", own, others, known)
	}
	if _, _, known := (&inFrontOf{taken: milli}).shares(); known {
		t.Error("nothing was recorded")
	}
}

// A goroutine in the queue of its runtime waits for the service's own threads, except while one of them waits for a processor.
func TestGoroutinesWaitBehindThreads(t *testing.T) {
	rec := oneProcessor(1)
	for _, e := range rec.Events {
		if off, ok := e.Fact.(*recording.Off); ok {
			off.Ahead = recording.AheadIdle
		}
	}
	a := ahead(caseOf(t, rec))
	if a.turns < requestsPlayed*18*milli || a.idle == 0 || a.idle > requestsPlayed*milli/10 || len(a.programs) > 0 {
		t.Errorf("%+v", a)
	}
}

// behindBackup notes what had the processor until a thread came back: another program if that took long.
func behindBackup(s *scenario) *scenario {
	for _, e := range s.events {
		if off, ok := e.Fact.(*recording.Off); !ok {
			continue
		} else if off.Ahead = recording.AheadIdle; e.Time-off.Woken > 1000*us {
			off.Ahead, off.Program = recording.AheadOther, "backup"
		}
	}
	return s
}
