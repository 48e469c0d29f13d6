package hypotheses

import (
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Advice names what the service's own runtime and database offer, and nothing that does harm or cannot be done
// there.
func TestAdviceIsOfTheRuntime(t *testing.T) {
	for _, x := range []struct{ of, runtime, says, not string }{
		{"held-while-waiting/supported", "python", "pg_stat_activity (state 'idle in transaction')", "idle_in_transaction_session_timeout"},
		{"accept-queue/supported", "python", "asyncio.to_thread", "spawn_blocking"},
		{"accept-queue/supported", "node", "node:cluster", "spawn_blocking"},
		{"accept-queue/supported", "native", "spawn_blocking", "asyncio"},
		{"page-fault/supported", "python", "MAP_POPULATE", "AlwaysPreTouch"},
		{"page-fault/supported", "jvm", "-XX:+AlwaysPreTouch", ""},
	} {
		f := findingOf(t, x.of, func(text string) string {
			for _, rt := range []string{"python", "ruby"} {
				text = strings.ReplaceAll(text, "runtime="+rt, "runtime="+x.runtime)
			}
			return text
		})
		if !strings.Contains(f.Fix, x.says) || x.not != "" && strings.Contains(f.Fix, x.not) {
			t.Errorf("%s, %s: %s", x.of, x.runtime, f.Fix)
		}
	}
}

// findingOf returns what a hypothesis finds in one of its recordings, after the text is changed.
func findingOf(t *testing.T, of string, change func(string) string) diagnosis.Finding {
	t.Helper()
	text, err := os.ReadFile("testdata/" + of + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(of, "/")
	for _, h := range All() {
		if h.ID == id {
			d := diagnosis.Diagnose(built(t, change(string(text))), []diagnosis.Hypothesis{h}, diagnosis.Options{})
			if list := append(d.Findings, d.Leads...); len(list) > 0 {
				return list[0]
			}
		}
	}
	t.Fatalf("%s: nothing found", of)
	return diagnosis.Finding{}
}

// If nothing but an identifier is known of a file's name, the finding shows no name.
func TestAFileWithoutANameIsNotCalledByBraces(t *testing.T) {
	f := findingOf(t, "page-fault/file-supported", func(text string) string { return strings.Replace(text, "name=orders.db", "name={}", 1) })
	said := f.Title
	for _, e := range f.Evidence {
		said += "; " + e.What
	}
	if strings.Contains(said, "{},") || strings.Contains(said, "file {}") || !strings.Contains(said, "of it for a file whose name is not recorded") {
		t.Error(said)
	}
}

// A finding about a release says in words which process took over, when, and what takes longer in requests.
func TestAReleaseSaysWhoTookOverAndWhen(t *testing.T) {
	f := findingOf(t, "release/supported", func(text string) string { return text })
	for _, want := range []string{"the new process ", "(pid ", " s into the recording", "the extra time is mostly waiting for a peer to answer"} {
		if !strings.Contains(f.Title, want) {
			t.Errorf("%q is not in: %s", want, f.Title)
		}
	}
}

// Each of the first 36 of 80 calls takes 25 ms. It waits 20 ms for a peer, as later calls do, so the extra time is
// computing.
func TestAYoungProcessIsSlowByWhatIsMore(t *testing.T) {
	s := called(newScenario(recording.RuntimePython), 80, func(t *thread, i int) {
		if i < 36 {
			t.compute(5000 * us)
		}
		keptCall(t, 20_000*us)
	})
	s.born = int64(10_000 * us)
	d := diagnosed(t, s)
	for _, f := range append(d.Findings, d.Leads...) {
		if f.ID != "cold-start" {
			continue
		}
		if !strings.HasSuffix(f.Title, "; the extra time is mostly computing") || !strings.Contains(f.Fix, "its code is compiled") {
			t.Errorf("%s; %s", f.Title, f.Fix)
		}
		for _, p := range f.Impact.Portions {
			if p.Cause != timeline.CauseOnCPU && 10*p.Mean > f.Impact.Mean {
				t.Errorf("it would save %v of %v", p.Mean, p.Cause)
			}
		}
		return
	}
	t.Error("no cold start was found: ", say(d, "cold-start"))
}

// The JVM starts programs through a launcher. Until a child runs a program, its name is that of the thread.
func TestTheProgramBehindALauncherIsNamed(t *testing.T) {
	for _, x := range []struct{ comm, exe, want string }{
		{"jspawnhelper", "convert", "convert"},
		{"jspawnhelper", "", "jspawnhelper"},
		{"convert", "", "convert"},
		{"worker-1", "java", ""},
		{"java", "", ""},
	} {
		if got := programName(&timeline.Process{Comm: x.comm, Exe: x.exe}, "java", recording.RuntimeJVM); got != x.want {
			t.Errorf("%s, %s: %q, want %q", x.comm, x.exe, got, x.want)
		}
	}
	p := startedPrograms{names: tally{"jspawnhelper": 9, "convert": 1}}
	if got := p.mostly(); got != ` (mostly "convert")` {
		t.Error(got)
	}
	p.names = tally{"jspawnhelper": 9}
	if got := p.mostly(); got != " (through the JVM's launcher jspawnhelper)" {
		t.Error(got)
	}
}

// A pool's advice says how many of its connections are in use, and how many calls want one.
func TestAFullPoolSaysHowManyWantAConnection(t *testing.T) {
	tl := &timeline.Timeline{Requests: []timeline.Request{{Process: 1}}}
	for i := range 7 {
		tl.Calls = append(tl.Calls, timeline.Call{Peer: "db:80", Process: 1, Start: timeline.Time(i), End: 100})
	}
	s := &shortage{peer: "db:80", size: 2, rt: recording.RuntimeNode, stays: []stay{{}}}
	if got := s.fix(&diagnosis.Case{Timeline: tl}); !strings.HasPrefix(got, "raise the limit (2 in use at most, 7 calls in flight at most): maxSockets") {
		t.Error(got)
	}
}
