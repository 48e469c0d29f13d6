package truth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/internal/truth/proc"
	"github.com/getdwell/dwell/recording"
)

// undecided is dwell's exit status when some hypothesis stayed so.
const undecided = 3

// binVar names the folder of the programs under test.
const binVar = "DWELL_TRUTH_BIN"

// built builds the programs under test, once.
var built = sync.OnceValues(func() (dir string, err error) {
	dir = os.Getenv(binVar)
	out, err := exec.Command("go", "build", "-o", dir+"/", "../../cmd/dwell", "./cmd/upstream", "./cmd/service", "./cmd/golocks", "./cmd/templates", "./cmd/helper").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return dir, nil
})

// besideEachOther is how many tests of quiet scenarios, which wait most of the time, are played at once,
// unless somebody says.
const besideEachOther = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	parallel := false
	flag.Visit(func(f *flag.Flag) { parallel = parallel || f.Name == "test.parallel" })
	if !parallel {
		flag.Set("test.parallel", besideEachOther)
	}
	dir, err := os.MkdirTemp("", "dwell-truth-")
	if err != nil {
		panic(err)
	}
	os.Setenv(binVar, dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// canRecord is why nothing can be recorded here, if nothing can. It is asked once: to try all programs takes
// longer than many a scenario's load.
var canRecord = sync.OnceValue(func() error {
	out, err := exec.Command(os.Getenv(binVar)+"/dwell", "doctor").CombinedOutput()
	if err != nil {
		return fmt.Errorf("dwell doctor: %w\n%s", err, out)
	}
	return nil
})

// stage is where one scenario is played.
type stage struct {
	t       *testing.T
	bin     string
	dir     string // of the logs
	service *proc.Process
	rivals  []*proc.Process // for the processors
	port    int             // of the service
	refuse  string          // programs, to the recorder
}

// freePorts returns ports of this host that nobody listens on.
func freePorts(t *testing.T) (service, upstream int) {
	t.Helper()
	var ports [2]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1]
}

// newStage starts the upstream and the service, or skips, loudly, where nothing can be
// recorded.
func newStage(t *testing.T, sc scenario) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("live")
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if err := canRecord(); err != nil {
		t.Skip("SKIPPED-NO-BPF: ", err)
	}
	s := &stage{t: t, bin: bin, dir: t.TempDir(), refuse: sc.refuse}
	port, upstream := freePorts(t)
	s.port = port
	s.start(proc.Options{
		Args:  []string{bin + "/upstream", "-listen", fmt.Sprint("127.0.0.1:", upstream), "-log", s.dir + "/upstream", fmt.Sprintf("-tls=%v", sc.tls)},
		Ready: "ready",
	})
	opt := proc.Options{Args: sc.runtime.args(bin), Ready: "ready", Env: append([]string{
		fmt.Sprint("PORT=", port), fmt.Sprintf("UPSTREAM=%s:%d", cmp.Or(sc.peer, "127.0.0.1"), upstream), "LOG=" + s.dir + "/service",
	}, sc.env...)}
	s.service = s.start(opt)
	return s
}

func (s *stage) start(opt proc.Options) *proc.Process {
	s.t.Helper()
	p, err := proc.Start(context.Background(), opt)
	if err != nil {
		if s.service != nil {
			s.t.Log("the service printed last: ", s.service.Tail())
		}
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Stop)
	return p
}

// send puts the scenario's load on the service.
func (s *stage) send(sc scenario, span time.Duration) *load.Result {
	s.t.Helper()
	r, err := s.try(sc, span)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// try is send for other goroutines than the test's.
func (s *stage) try(sc scenario, span time.Duration) (*load.Result, error) {
	r, err := load.Run(context.Background(), load.Options{
		URL: fmt.Sprintf("http://127.0.0.1:%d/", s.port), Rate: sc.rate, Workers: sc.workers,
		For: span, Seed: 7, Conns: sc.conns, Close: sc.close, Path: sc.path,
	})
	if err != nil {
		return nil, err
	}
	if sum := r.Summary(); sum.Errors+sum.Failed > 0 || sum.Answered == 0 {
		return nil, fmt.Errorf("the load was not answered properly: %+v\n%s", sum, s.service.Tail())
	}
	return r, nil
}

// record starts a recorder and returns when it records. It never rests, as it might where a closed loop of clients saturates
// the service: all that was sent is compared.
func (s *stage) record() (file string, recorder *proc.Process) {
	s.t.Helper()
	file = filepath.Join(s.dir, "recording.dwell")
	if keep := os.Getenv("DWELL_KEEP"); keep != "" {
		file = filepath.Join(keep, strings.ReplaceAll(s.t.Name(), "/", "-")+".dwell")
		os.Remove(file)
	}
	return file, s.start(proc.Options{
		Args:  []string{s.bin + "/dwell", "attach", "--pid", strconv.Itoa(s.service.PID()), "--for", "10m", "--windows", "off", "-o", file},
		Env:   []string{"DWELL_REFUSE=" + s.refuse},
		Ready: "all that can be seen",
	})
}

func (s *stage) stop(recorder *proc.Process) {
	s.t.Helper()
	if err := recorder.Interrupt(time.Minute); err != nil && proc.Status(err) != undecided {
		s.t.Fatal(err)
	}
}

// load reads a recording.
func (s *stage) load(file string) *recording.Recording {
	s.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	rec, err := recording.Load(f)
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// save writes one.
func (s *stage) save(rec *recording.Recording, file string) {
	s.t.Helper()
	f, err := os.Create(file)
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := recording.NewWriter(f)
	for i := 0; i < len(rec.Events) && err == nil; i++ {
		err = w.Write(rec.Events[i])
	}
	if err == nil {
		err = w.Close()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// build checks the recording and rebuilds its timeline.
func (s *stage) build(file string) *timeline.Timeline {
	s.t.Helper()
	rec := s.load(file)
	report(s.t, "the facts are not valid", recording.Validate(rec))
	tl, err := build.Recording(rec)
	if err != nil {
		s.t.Fatal(err)
	}
	report(s.t, "the timeline is not valid", timeline.Validate(tl))
	if lost := tl.Losses; len(lost) > 0 {
		s.t.Logf("facts were lost: %+v", lost)
	}
	return tl
}

// report shows the first of many problems.
func report(t *testing.T, what string, problems []error) {
	t.Helper()
	for i, p := range problems {
		if i == 5 {
			t.Errorf("... and %d more", len(problems)-i)
			return
		}
		t.Errorf("%s: %v", what, p)
	}
}

// truth reads the logs. The service and the upstream are stopped first, so that the
// logs are whole.
func (s *stage) truth(sent *load.Result) Truth {
	s.t.Helper()
	s.service.Stop()
	during := func(start int64) bool { return sent.Start <= start && start <= sent.End }
	return Truth{
		Client: sent.Log, From: sent.Start, To: sent.End,
		// The warm-up's ids begin at 0 too.
		Served: slices.DeleteFunc(lines[Served](s.t, s.dir+"/service"),
			func(one Served) bool { return !during(one.Start) }),
		Exchanges: slices.DeleteFunc(lines[Exchange](s.t, s.dir+"/upstream"),
			func(one Exchange) bool { return !during(one.Start) }),
	}
}

func lines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := ReadLines[T](f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// found is one finding of dwell why.
type found struct {
	ID, Title string
	text      string // all of it, as JSON
}

// diagnosis is what dwell why finds.
func (s *stage) diagnosis(file string) []found {
	s.t.Helper()
	findings, _ := s.why(file)
	return findings
}

// why is what dwell why finds, and what it says to look at.
func (s *stage) why(file string) (findings, leads []found) {
	s.t.Helper()
	cmd := exec.Command(s.bin+"/dwell", "why", file, "--json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && proc.Status(err) != undecided {
		s.t.Fatalf("dwell why: %v\n%s", err, stderr.String())
	}
	var d struct{ Findings, Leads []json.RawMessage }
	if err := json.Unmarshal(out, &d); err != nil {
		s.t.Fatal(err)
	}
	read := func(list []json.RawMessage) (all []found) {
		for _, raw := range list {
			var text bytes.Buffer
			if err := json.Compact(&text, raw); err != nil {
				s.t.Fatal(err)
			}
			f := found{text: text.String()}
			if err := json.Unmarshal(raw, &f); err != nil {
				s.t.Fatal(err)
			}
			all = append(all, f)
		}
		return all
	}
	return read(d.Findings), read(d.Leads)
}

// findings are the ids that dwell why reports.
func (s *stage) findings(file string) (ids []string) {
	s.t.Helper()
	for _, f := range s.diagnosis(file) {
		ids = append(ids, f.ID+": "+f.Title)
	}
	return ids
}
