package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/truth/calm"
)

func needBPF(t *testing.T) {
	t.Helper()
	if err := recordingForbidden(); err != nil {
		t.Skipf("SKIPPED-NO-BPF: %v", err)
	}
}

// console collects what a command under test prints.
type console struct {
	mu       sync.Mutex
	out, err bytes.Buffer
	ready    string        // beginning of the line that announces recording
	begun    chan struct{} // closed when that line was printed
	once     sync.Once
}

type consoleErr struct{ *console }

func (c consoleErr) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.HasPrefix(p, []byte(c.ready)) {
		c.once.Do(func() { close(c.begun) })
	}
	return c.console.err.Write(p)
}

func (c *console) world(env ...string) world {
	return world{in: strings.NewReader(""), out: &c.out, err: consoleErr{c}, getenv: environment(env...)}
}

// last is the last line on stderr.
func (c *console) last() string {
	lines := strings.Split(strings.TrimSpace(c.err.String()), "\n")
	return lines[len(lines)-1]
}

// running is a command that records.
type running struct {
	status    <-chan int // its exit status, once it has ended
	interrupt context.CancelFunc
}

// end interrupts it and returns its exit status.
func (r running) end() int {
	r.interrupt()
	return <-r.status
}

// start runs a command and waits until it records.
func (c *console) start(t *testing.T, args ...string) running {
	t.Helper()
	if c.ready = "recording"; args[0] == "attach" {
		c.ready = "all that can be seen"
	}
	status := make(chan int, 1)
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { status <- execute(ctx, args, c.world()) }()
	select {
	case <-c.begun:
	case s := <-status:
		t.Fatalf("%s: status %d: %s", args, s, c.err.String())
	}
	return running{status, interrupt}
}

func newConsole() *console { return &console{begun: make(chan struct{})} }

// send sends count requests to url, one after the other, and checks that all are answered.
func send(t *testing.T, url string, count int) {
	t.Helper()
	for i := range count {
		resp, err := exchange(url)
		if err != nil || !strings.HasPrefix(resp, "HTTP/1.") {
			t.Fatalf("request %d to %s: %q, %v", i, url, resp, err)
		}
	}
}

// exchange sends one request on its own connection and reads to the end.
func exchange(address string) (string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
	var answer bytes.Buffer
	_, err = answer.ReadFrom(conn)
	return answer.String(), err
}

func diagnosisOf(t *testing.T, path string) *report.Report {
	t.Helper()
	c := newConsole()
	if status := execute(t.Context(), []string{"why", path, "--json"}, c.world()); status != exitDone {
		t.Fatalf("why: status %d: %s", status, c.err.String())
	}
	var r report.Report
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestLiveDemoFindsItsFaultAndOnlyThere(t *testing.T) {
	needBPF(t)
	calm.Try(t, func() (problems []string) {
		say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
		c := newConsole()
		if status := execute(t.Context(), []string{"demo", "--for", "3s", "--json"}, c.world()); status != exitDone {
			t.Fatalf("status %d: %s", status, c.err.String())
		}
		var got struct{ Bad, Fixed report.Report }
		if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if f := got.Bad.Findings; len(f) == 0 || f[0].ID != "connection-churn" || f[0].Impact.P50Saving < report.Duration(time.Millisecond) {
			say("findings in the bad one: %+v; want connection-churn first, saving at least 1 ms", f)
		}
		if f := got.Fixed.Findings; len(f) > 0 {
			say("findings in the fixed one: %+v", f)
		}
		if r := got.Fixed; r.Requests.AssociatedShare < 990_000 || len(r.Calls) == 0 {
			say("%s of the calls associated (%d groups): is the shop taken for a dwell that records, and gets no probes?", r.Requests.AssociatedShare, len(r.Calls))
		}
		if got.Bad.Requests.P50-got.Fixed.Requests.P50 < report.Duration(time.Millisecond) {
			say("p50 fell from %d to %d ns", got.Bad.Requests.P50, got.Fixed.Requests.P50)
		}
		return problems
	})
}

func TestLiveAttachCountsEveryRequestAndLeavesTheTargetAlone(t *testing.T) {
	needBPF(t)
	service, err := demo.Start(t.Context(), demoServer, demo.Bad)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Stop()
	c := newConsole()
	path := filepath.Join(t.TempDir(), "rec")
	attached := c.start(t, "attach", "--pid", fmt.Sprint(service.PID), "--windows", "off", "-o", path)
	result, err := load.Run(t.Context(), load.Options{URL: service.URL, Workers: 2, For: 3 * time.Second, Path: demo.ProductPath})
	if err != nil {
		t.Fatal(err)
	}
	if s := attached.end(); s != exitDone {
		t.Fatalf("status %d: %s", s, c.err.String())
	}
	if r, sent := diagnosisOf(t, path), result.Summary().Answered; r.Requests.Count != sent || r.Requests.Cut != 0 {
		t.Errorf("%d requests and %d cut, the client sent %d", r.Requests.Count, r.Requests.Cut, sent)
	}
	send(t, strings.TrimPrefix(service.URL, "http://"), 1)
}

// A started service serves, and ends with the recording, whether its time is over or it is interrupted. A process
// that a shell started and left behind ends too.
func TestLiveRunStartsAndEndsTheServiceAsItsCaller(t *testing.T) {
	needBPF(t)
	const address, count = "127.0.0.1:21301", 50
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	service := []string{python, "-m", "http.server", "-b", "127.0.0.1", "-d", t.TempDir(), "21301"}
	inTime := func(r running) int { return <-r.status }
	for name, test := range map[string]struct {
		args []string
		end  func(running) int
	}{
		"itself":     {service, inTime},
		"by a shell": {[]string{"sh", "-c", strings.Join(service, " ") + "; true"}, running.end},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole()
			path := filepath.Join(t.TempDir(), "rec")
			run := c.start(t, append([]string{"run", "--for", "5s", "-o", path, "--"}, test.args...)...)
			listens := func() bool {
				probe, err := net.Dial("tcp", address)
				if err == nil {
					probe.Close()
				}
				return err == nil
			}
			for wait := time.Now().Add(4 * time.Second); !listens() && time.Now().Before(wait); {
				time.Sleep(20 * time.Millisecond)
			}
			send(t, address, count)
			if s := test.end(run); s != exitDone {
				t.Fatalf("status %d: %s", s, c.err.String())
			}
			if r := diagnosisOf(t, path); r.Requests.Count != count {
				t.Errorf("%d requests, the client sent %d", r.Requests.Count, count)
			}
			for wait := time.Now().Add(4 * time.Second); listens(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(wait) {
					t.Fatal("the service still listens")
				}
			}
		})
	}
}

func TestLiveRunOfWhatServesNothing(t *testing.T) {
	needBPF(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"false"}, "before any request (exit status 1)"},
		{[]string{"sleep", "60"}, "no HTTP request was recognised; no connection was made to the target"},
	} {
		c := newConsole()
		path := filepath.Join(t.TempDir(), "rec")
		status := execute(t.Context(), append([]string{"run", "--for", "1s", "-o", path, "--"}, test.args...), c.world())
		if status != exitCannot || !strings.Contains(c.last(), test.want) || c.out.Len() > 0 {
			t.Errorf("%s: status %d, %q, %q; want %d and %q", test.args[0], status, c.last(), c.out.String(), exitCannot, test.want)
		}
	}
}

// withoutRights runs dwell as a user who may not load programs, in a directory that this user may write to. It
// returns the output and the files left there.
func withoutRights(t *testing.T, args ...string) (status int, out string, left []string) {
	t.Helper()
	// Not t.TempDir: another user must be able to write there.
	dir, err := os.MkdirTemp("", "dwell-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "BE_DWELL=1")
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	printed, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(printed), files
}

func TestWithoutRightsNothingIsRecordedAndTheRemedyNamed(t *testing.T) {
	for _, args := range [][]string{
		{"attach", "--pid", fmt.Sprint(os.Getpid()), "--for", "1s"},
		{"run", "--for", "1s", "--", "sleep", "60"},
	} {
		status, out, left := withoutRights(t, args...)
		if status != exitCannot || !strings.Contains(out, "CAP_BPF") || !strings.Contains(out, "sudo") || len(left) > 0 {
			t.Errorf("%s: status %d, left %v: %s", args[0], status, left, out)
		}
	}
}

func TestWithoutRightsTheDemoShowsABundledRecordingAndSaysSo(t *testing.T) {
	status, out, _ := withoutRights(t, "demo")
	if status != exitDone || !strings.Contains(out, "BUNDLED") || !strings.Contains(out, "1 connection-churn: ") {
		t.Errorf("status %d: %s", status, out)
	}
}
