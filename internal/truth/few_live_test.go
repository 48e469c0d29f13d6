package truth

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/proc"
)

// fewFor is how long a few slow requests are recorded.
const fewFor = 10 * time.Second

// fewRequests are services that get a request when the last is answered, which waits long for its peer and
// computes. At a rate some would meet by chance, and wait for the interpreter.
func fewRequests() []scenario {
	with := func(kind runtimeKind) scenario {
		return scenario{name: "few requests", runtime: kind, plan: plan{cpu: 300_000, calls: 1, delay: 1_400_000}, workers: 1}
	}
	return []scenario{with(python()), with(puma()), with(node()), with(golang())}
}

// TestFewRequests: requests that are too few to prove anything are told one by one, with what they
// spent their time on, and with leads, the right one first.
func TestFewRequests(t *testing.T) {
	t.Parallel()
	for _, sc := range fewRequests() {
		t.Run(sc.runtime.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.few(t) })
		})
	}
}

func (sc scenario) few(t *testing.T) []string {
	s := newStage(t, sc)
	file, recorder := s.record()
	sent := s.send(sc, fewFor)
	time.Sleep(settle)
	s.stop(recorder)
	score := Compare(s.build(file), s.truth(sent))
	show(t, sc, score)
	problems := sc.problems(score)
	if score.Matched == 0 || score.Matched >= 20 {
		problems = append(problems, fmt.Sprintf("%d requests are not a few", score.Matched))
	}
	findings, leads := s.why(file)
	leads = slices.DeleteFunc(leads, func(f found) bool { return f.ID == "run-queue" || f.ID == "dwell-itself" })
	has := func(id string) bool { return slices.ContainsFunc(leads, func(f found) bool { return f.ID == id }) }
	if len(findings) > 0 || len(leads) == 0 || leads[0].ID != "slow-peer" || !has("cpu-bound") {
		problems = append(problems, fmt.Sprintf("want leads alone, to the peer first and to what is computed: %+v %+v", findings, leads))
	}
	// Each is told with most of its time.
	_, each, _ := strings.Cut(s.says(file), "Each request, the slowest first")
	each, _, _ = strings.Cut(strings.Join(strings.Fields(each), " "), "Where the time goes")
	if n := strings.Count(each, "% waiting for a peer"); n != score.Matched {
		problems = append(problems, fmt.Sprintf("%d of %d requests are listed:\n%s", n, score.Matched, each))
	}
	return problems
}

// says is what dwell why prints of a recording.
func (s *stage) says(file string) string {
	s.t.Helper()
	cmd := exec.Command(s.bin+"/dwell", "why", file, "--all")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && proc.Status(err) != undecided {
		s.t.Fatalf("dwell why: %v\n%s", err, stderr.String())
	}
	return string(out)
}
