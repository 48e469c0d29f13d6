package torture

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// beService makes the test program the small service that is recorded.
const beService = "BE_SERVICE"

// programs is the folder of the dwell that is tortured.
const programs = "DWELL_TORTURE_BIN"

func TestMain(m *testing.M) {
	if os.Getenv(beService) != "" {
		serve()
		return
	}
	dir, err := os.MkdirTemp("", "dwell-torture-")
	if err != nil {
		panic(err)
	}
	os.Setenv(programs, dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// serve answers until its parent ends it, and says where.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Getenv(beService), []byte(l.Addr().String()), 0o644); err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "well") }))
}

var built = sync.OnceValues(func() (string, error) {
	program := filepath.Join(os.Getenv(programs), "dwell")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/dwell").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build dwell: %w\n%s", err, out)
	}
	return program, nil
})

// needDwell is a dwell that can record here; where nothing can, the test is skipped loudly.
func needDwell(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("live")
	}
	dwell, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if err := canRecord(); err != nil {
		t.Skip("SKIPPED-NO-BPF: ", err)
	}
	return dwell
}

// canRecord is why nothing can be recorded here, if nothing can.
var canRecord = sync.OnceValue(func() error {
	out, err := exec.Command(filepath.Join(os.Getenv(programs), "dwell"), "doctor").CombinedOutput()
	if err != nil {
		return fmt.Errorf("dwell doctor: %w\n%s", err, out)
	}
	return nil
})

// startService starts the service, and ends it with the test.
func startService(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), beService+"="+filepath.Join(t.TempDir(), "address"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line := bufio.NewScanner(out); !line.Scan() {
		t.Fatal("the service has not started")
	}
	return cmd
}

// recordAll starts a recorder of a service, and returns it once all that can be seen is recorded, with what it says.
func recordAll(t *testing.T, dwell string, service *exec.Cmd, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(dwell, "attach", "--pid", fmt.Sprint(service.Process.Pid), "--windows", "off", "-o", path)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "all that can be seen") {
	}
	return cmd, lines
}

// address is where a service says that it listens.
func address(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	for _, v := range cmd.Env {
		if file, ok := strings.CutPrefix(v, beService+"="); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	t.Fatal("no service")
	return ""
}

// client asks a service all the time.
type client struct {
	url              string
	answered, failed atomic.Int64
	stop             chan struct{}
	done             sync.WaitGroup
}

func startClient(t *testing.T, address string) *client {
	c := &client{url: "http://" + address + "/", stop: make(chan struct{})}
	c.done.Go(func() {
		for pace := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-c.stop:
				pace.Stop()
				return
			case <-pace.C:
				c.ask()
			}
		}
	})
	t.Cleanup(sync.OnceFunc(func() {
		close(c.stop)
		c.done.Wait()
	}))
	return c
}

func (c *client) ask() {
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Get(c.url)
	if err != nil || resp.StatusCode != http.StatusOK {
		c.failed.Add(1)
		return
	}
	resp.Body.Close()
	c.answered.Add(1)
}

// answers waits until so many more requests were answered.
func (c *client) answers(t *testing.T, more int64) {
	t.Helper()
	want := c.answered.Load() + more
	for until := time.Now().Add(20 * time.Second); c.answered.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the service does not answer: %d answered, %d failed", c.answered.Load(), c.failed.Load())
		}
	}
}
