package truth

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/recording"
)

// What must hold of the waits for locks, in percent.
const (
	seenPercent   = 97 // of the logged waits
	withinPercent = 90 // of those seen, in length
	rightPercent  = 99 // of the time with a holder known to both
	earlyPercent  = 15 // at most, of that time: given to a thread that had yet to run
	namedPercent  = 80 // of dwell's time, with a holder

	swappedPercent = 50 // at most, right by chance when wakers are swapped
)

// TestLocks records each service whose threads wait for each other and compares what
// dwell says of the waits, of who had the lock and of the reason with the service's log.
func TestLocks(t *testing.T) {
	for _, sc := range lockScenarios() {
		t.Run(sc.runtime.name+"/"+sc.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.play(t) })
		})
	}
}

func (sc lockScenario) play(t *testing.T) []string {
	s := sc.stage(t)
	s.send(sc.scenario, time.Second) // warm-up
	file, recorder := s.record()
	sent := s.send(sc.scenario, judgedFor)
	time.Sleep(settle)
	s.stop(recorder)
	truth := s.lockTruth(sent)
	tl := s.build(file)
	score := CompareLocks(s.load(file), tl, sc.question(), truth)
	showLocks(t, sc, score)
	if w := tl.WaitStacks; w.Own+w.Borrowed+w.None > 0 {
		all := int64(w.Own + w.Borrowed + w.None)
		t.Logf("%-6s %-40s of the time in waits of 1 ms and more %.1f%% has its own stack, %.1f%% that of others at its place",
			sc.runtime.name, sc.name, 100*share(int64(w.Own), all), 100*share(int64(w.Borrowed), all))
	}
	problems := sc.saysWhy(s, file)
	if sc.broadcast {
		return problems // of few waits it is known who ended them
	}
	problems = append(problems, sc.problems(score)...)
	if len(problems) > 0 {
		return problems
	}
	return sc.swapped(s, file, truth)
}

// question is what to compare: the waits at the place that the log tells of.
func (sc lockScenario) question() LockQuestion {
	return LockQuestion{Cause: sc.cause, Site: sc.site}
}

// lockTruth reads the logs of the client and of the locks, when all is over.
func (s *stage) lockTruth(sent *load.Result) Truth {
	for _, p := range append(s.rivals, s.service) {
		p.Stop()
	}
	return Truth{
		Client: sent.Log, Taken: lines[Taken](s.t, s.dir+"/service"), To: sent.End,
		// The profiler takes a moment to know a process: the first waits may have no stack.
		From: sent.Start + int64(midLoadEdge),
	}
}

// showLocks prints one row of the table.
func showLocks(t *testing.T, sc lockScenario, s LockScore) {
	t.Logf("%-6s %-40s waits %d: seen %d within %d extra %d | %.1f of %.1f ms | holder named %.1f%% (%.1f%% early), right %.2f%% of %.1f ms | of requests %d of %d right",
		sc.runtime.name, sc.name, s.Waits, s.Seen, s.Within, s.Extra, ms(s.Dwell), ms(s.Truth),
		100*share(s.Named, s.Dwell), 100*share(s.Early, s.Named), 100*share(s.Right, s.Held), ms(s.Held), s.Request, s.Theirs)
	if len(sc.problems(s)) > 0 {
		for _, odd := range s.Odd {
			t.Log(odd)
		}
	}
}

// problems are what must hold of every lock and does not.
func (sc lockScenario) problems(s LockScore) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if s.Waits == 0 {
		say("the service logged no wait")
		return all
	}
	if s.Seen*100 < s.Waits*seenPercent {
		say("%d of %d waits were seen", s.Seen, s.Waits)
	}
	if s.Within*100 < s.Seen*withinPercent {
		say("the length of %d of %d waits is within the tolerance", s.Within, s.Seen)
	}
	if s.Extra > s.Waits/50 {
		say("%d waits that the service knows nothing of", s.Extra)
	}
	if s.Named*100 < s.Dwell*namedPercent {
		say("a holder is named for %.1f%% of the time waited", 100*share(s.Named, s.Dwell))
	}
	if s.Early*100 > s.Named*earlyPercent {
		say("the holder had it later than is said for %.1f%% of the time", 100*share(s.Early, s.Named))
	}
	if s.Right*100 < s.Held*rightPercent {
		say("the holder is right for %.2f%% of the time", 100*share(s.Right, s.Held))
	}
	if s.Request < s.Theirs*995/1000 {
		say("%d of %d waits were given to the right request", s.Request, s.Theirs)
	}
	return all
}

// saysWhy are what the diagnosis must say and does not: the cause first, with the code
// that holds the lock.
func (sc lockScenario) saysWhy(s *stage, file string) []string {
	all := slices.DeleteFunc(s.diagnosis(file), func(f found) bool {
		return f.ID == "run-queue" // other work on the machine makes it true
	})
	switch {
	case len(all) == 0:
		return []string{"nothing was found, want " + sc.finding}
	case all[0].ID != sc.finding:
		return []string{fmt.Sprintf("found %s first, want %s", all[0].text, sc.finding)}
	case !sc.says(all[0]):
		return []string{fmt.Sprintf("want %q and %q in %s", sc.site, sc.holder, all[0].text)}
	}
	return nil
}

// swaps is in how many ways wakers are swapped at most. Where one thread has the lock nearly all the time, one way
// may lead to that thread by chance.
const swaps = 4

// swapped gives every waking by a thread to another thread, in one way or another. What is said of holders then
// rests on nothing: it must be wrong, and the reason must be gone. (Who woke whom is the
// evidence, not when things happened at the same time.)
func (sc lockScenario) swapped(s *stage, file string, truth Truth) (all []string) {
	for by := 1; by <= swaps; by++ {
		if all = sc.swappedBy(by, s, file, truth); len(all) == 0 {
			return nil
		}
	}
	return all
}

func (sc lockScenario) swappedBy(by int, s *stage, file string, truth Truth) (all []string) {
	rec := s.load(file)
	swapWakers(rec, by)
	tl, err := build.Recording(rec)
	if err != nil {
		s.t.Fatal(err)
	}
	score := CompareLocks(rec, tl, sc.question(), truth)
	s.t.Logf("with wakers swapped: holder named %.1f%%, right %.2f%%; by wakers %.1f%%, right %.2f%%",
		100*share(score.Named, score.Dwell), 100*share(score.Right, score.Named),
		100*share(score.Woken, score.Dwell), 100*share(score.Proven, score.Woken))
	if score.Proven*100 > score.Woken*swappedPercent {
		all = append(all, fmt.Sprintf("with wakers swapped the holder is still right for %.1f%% of the time", 100*share(score.Proven, score.Woken)))
	}
	// What keeps an interpreter busy is known from the stacks of what runs, whoever wakes whom.
	if sc.holder == "" || sc.cause == timeline.CauseInterpreterLock {
		return all
	}
	s.save(rec, file+".swapped")
	for _, f := range s.diagnosis(file + ".swapped") {
		if sc.says(f) {
			all = append(all, "with wakers swapped it still says "+f.text)
		}
	}
	return all
}

// swapWakers replaces each waker by the one so many places behind it of all, or by the next that is not the one woken:
// nobody wakes itself, and what cannot be is no evidence of anything.
func swapWakers(rec *recording.Recording, by int) {
	var wakers []recording.ThreadID
	for _, e := range rec.Events {
		if off, is := e.Fact.(*recording.Off); is && off.WakerKind == recording.WakerThread {
			wakers = append(wakers, off.Waker)
		}
	}
	slices.Sort(wakers)
	wakers = slices.Compact(wakers)
	for _, e := range rec.Events {
		if off, is := e.Fact.(*recording.Off); is && off.WakerKind == recording.WakerThread {
			i, _ := slices.BinarySearch(wakers, off.Waker)
			if off.Waker = wakers[(i+by)%len(wakers)]; off.Waker == off.Thread {
				off.Waker = wakers[(i+by+1)%len(wakers)]
			}
		}
	}
}

// TestCollections compares the time that requests stood still in with the JVM's own log.
func TestCollections(t *testing.T) {
	calm.Try(t, func() []string {
		log := t.TempDir() + "/safepoints"
		sc := storm("-Xlog:safepoint:file=" + log + ":tn")
		s := sc.stage(t)
		s.send(sc.scenario, 2*time.Second)
		file, recorder := s.record()
		sent := s.send(sc.scenario, judgedFor)
		time.Sleep(settle)
		s.stop(recorder)
		s.service.Stop()
		in, err := os.Open(log)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		pauses, err := ReadPauses(in)
		if err != nil {
			t.Fatal(err)
		}
		a, odd := ComparePauses(s.build(file), Truth{Client: sent.Log, From: sent.Start, To: sent.End}, pauses)
		t.Logf("%d pauses; %v within %d of %d, mean truth %.2f dwell %.2f ms", len(pauses), a.Cause, a.Within, a.Requests, ms(a.Truth), ms(a.Dwell))
		problems := sc.saysWhy(s, file)
		if a.Within*100 < a.Requests*withinPercent {
			t.Log(strings.Join(odd, "\n"))
			problems = append(problems, fmt.Sprintf("pauses: %d of %d requests within the tolerance", a.Within, a.Requests))
		}
		return problems
	})
}

// TestRepairedLocksGiveNoFinding plays the same services with the problem gone.
func TestRepairedLocksGiveNoFinding(t *testing.T) {
	t.Parallel()
	for _, sc := range append(lockScenarios(), storm()) {
		t.Run(sc.runtime.name+"/"+sc.name, func(t *testing.T) {
			leaveOut(t)
			if sc.busy {
				t.Skip("what takes the processors is a finding")
			}
			fixed := sc.fixed().load()
			try := fixed.trying(t)
			try(func() []string { return fixed.healthy(t) })
		})
	}
}
