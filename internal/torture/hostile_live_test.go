//go:build linux

package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

const secret = "kept-from-all-but-root"

// hostile is what a program that means harm has around it.
type hostile struct {
	dir, key string    // where it may write, and the link that it gives out as its source
	answers  func()    // has the file system of one of its programs answer again
	both     *exec.Cmd // the parent of an honest service and of it
	address  string    // of the honest service
}

// A hostile program is recorded together with an honest service. It costs the recorder neither its memory nor its
// time, what is said of the honest one is right, and no view shows the secret that it points at, or a command.
func TestLiveHostileProgram(t *testing.T) {
	dwell := needDwell(t)
	h := startHostile(t)
	asking := startClient(t, h.address)
	asking.answers(t, 1)
	path := filepath.Join(t.TempDir(), "rec.dwell")
	begun, sent := record(t, dwell, h, asking, path)
	views := map[string]string{"attach": begun}
	for _, view := range []string{
		"why REC --all", "why REC --json", "show REC", "show REC --json", "threads REC", "threads REC --json", "facts REC",
		"threads --pid PID --for 1s", "threads --pid PID --for 1s --json",
	} {
		args := strings.Fields(strings.NewReplacer("REC", path, "PID", fmt.Sprint(h.both.Process.Pid)).Replace(view))
		views[view] = finish(t, exec.Command(dwell, append(args, "--no-color")...))
	}
	rec, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	views["the recording"] = string(rec)
	for view, text := range views {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the secret", view)
		}
		if at := commandIn(text); at >= 0 && view != "the recording" {
			t.Errorf("%s commands the terminal: %q", view, text[max(0, at-40):min(len(text), at+40)])
		}
	}
	for _, told := range []string{"does not answer", "larger than what is read"} {
		if !strings.Contains(views["why REC --all"], told) {
			t.Errorf("why does not say that something %s:\n%s", told, views["why REC --all"])
		}
	}
	if !strings.Contains(views["facts REC"], filepath.Base(h.key)) {
		t.Error("what the hostile program does was not recorded")
	}
	aboutHonest(t, views["why REC --json"], sent)
}

// startHostile starts an honest service and the hostile program, which makes itself nobody's.
func startHostile(t *testing.T) *hostile {
	t.Helper()
	h := &hostile{dir: t.TempDir()}
	h.key = filepath.Join(h.dir, "key.py")
	claims, hidden, listens := filepath.Join(h.dir, "claims"), filepath.Join(h.dir, "hidden"), filepath.Join(h.dir, "address")
	begin, size := GoProgram(program(t, "sleep"), 1<<28)
	fs, silent := mountSilent(t, filepath.Join(h.dir, "fs"), program(t, "cat"))
	err := errors.Join(
		os.WriteFile(hidden, []byte(strings.Repeat(secret+"\n", 30)), 0o600), os.Symlink(hidden, h.key), os.Lchown(h.key, 65534, 65534),
		os.WriteFile(claims, begin, 0o755), os.Truncate(claims, size), os.Chmod(filepath.Dir(h.dir), 0o755),
	)
	script, err2 := os.ReadFile("testdata/hostile.py")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	h.both = exec.Command("sh", "-c", `"$0" & python3 -c "$@"; kill $!`,
		os.Args[0], string(script), h.key, silent, claims)
	h.both.Env = append(os.Environ(), beService+"="+listens)
	h.both.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := h.both.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.both.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-h.both.Process.Pid, syscall.SIGKILL)
		h.both.Wait()
	})
	stuck := time.AfterFunc(time.Minute, func() { syscall.Kill(-h.both.Process.Pid, syscall.SIGKILL) })
	defer stuck.Stop()
	for lines, ready := bufio.NewScanner(out), false; h.address == "" || !ready; {
		if !lines.Scan() {
			t.Fatal("they have not started")
		}
		if ready = ready || lines.Text() == "ready"; lines.Text() != "ready" {
			h.address = lines.Text()
		}
	}
	fs.silent.Lock()
	h.answers = sync.OnceFunc(fs.silent.Unlock)
	t.Cleanup(h.answers)
	return h
}

// program is the content of a program.
func program(t *testing.T, name string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// record records both while the honest service is asked, and returns what was said and how often it answered.
func record(t *testing.T, dwell string, h *hostile, asking *client, path string) (said string, sent int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would be taken for stuck
	defer cancel()
	cmd := exec.CommandContext(ctx, dwell, "attach", "--pid", fmt.Sprint(h.both.Process.Pid), "--windows", "off", "-o", path, "--no-color")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	for begun := false; !begun && lines.Scan(); begun = strings.HasPrefix(lines.Text(), "all that can be seen") {
		said += lines.Text() + "\n"
	}
	before := asking.answered.Load()
	asking.answers(t, 1000)
	sent = asking.answered.Load() - before
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", cmd.Process.Pid))
	cmd.Process.Signal(os.Interrupt)
	ends(t, cmd.Process.Pid)
	h.answers() // else the kernel does not let it go
	for lines.Scan() {
		said += lines.Text() + "\n"
	}
	ended(t, cmd, cmd.Wait())
	if t.Logf("the recorder had %d threads", len(threads)); len(threads) > 100 {
		t.Errorf("%d threads", len(threads))
	}
	return said + out.String(), sent
}

// ends waits until a process has ended but for what the kernel keeps of it.
func ends(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, state, _ := strings.Cut(string(stat), ") "); err == nil && strings.HasPrefix(state, "Z") {
			return
		}
		if time.Now().After(until) {
			t.Errorf("the recorder does not end: %s, %v", stat, err)
			return
		}
	}
}

// finish runs a command to its end and returns what it printed.
func finish(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stuck := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	out, err := cmd.CombinedOutput()
	ended(t, cmd, err)
	return string(out)
}

// ended holds a command to its exit status and its memory.
func ended(t *testing.T, cmd *exec.Cmd, err error) {
	t.Helper()
	const most = 1 << 30 // half of what a program claims
	took := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("%s: %d MB, %v of processors", strings.Join(cmd.Args[1:], " "), took>>20, cmd.ProcessState.SystemTime()+cmd.ProcessState.UserTime())
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		err = nil // undecided
	}
	if err != nil || took > most {
		t.Errorf("%v: %v, %d MB", cmd.Args, err, took>>20)
	}
}

// commandIn is where a text has what a terminal obeys, or is no text; -1 nowhere.
func commandIn(text string) int {
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 || r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return at
		}
	}
	return -1
}

// aboutHonest holds what is said of the honest service against what it answered.
func aboutHonest(t *testing.T, why string, sent int64) {
	t.Helper()
	var told struct {
		Recording struct {
			Lost int64 `json:"lost"`
		} `json:"recording"`
		Requests struct {
			Count, Cut, Early int64
		} `json:"requests"`
	}
	if err := json.NewDecoder(strings.NewReader(why)).Decode(&told); err != nil {
		t.Fatal(err)
	}
	r := told.Requests
	t.Logf("%d requests once all had joined; told of: %d, cut: %d, early: %d; %d facts lost", sent, r.Count, r.Cut, r.Early, told.Recording.Lost)
	if r.Count == 0 || told.Recording.Lost == 0 && r.Count+r.Cut < sent*9/10 {
		t.Errorf("of %d requests %d are told of, and no loss", sent, r.Count)
	}
}
