//go:build linux && (amd64 || arm64)

package capture

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// rubyService is a Ruby program that prints where its threads are for each line of input.
type rubyService struct {
	program
	out *bufio.Scanner
}

func startRuby(t *testing.T) rubyService {
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("there is no ruby here")
	}
	cmd := exec.Command("ruby", "testdata/stacks/stacks.rb")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	return rubyService{program{cmd, in}, bufio.NewScanner(out)}
}

// rubyThread is a thread as seen by Ruby.
type rubyThread struct {
	name, frames string
	tid          int64
}

// ask makes Ruby print where its threads are.
func (s rubyService) ask() (threads []rubyThread) {
	fmt.Fprintln(s.stdin)
	for s.out.Scan() && s.out.Text() != "" {
		parts := strings.SplitN(s.out.Text(), " ", 3)
		tid, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || parts[2] == "" {
			continue // it was only just created
		}
		threads = append(threads, rubyThread{name: parts[0], tid: tid, frames: parts[2]})
	}
	return threads
}

// rubyFrames prints a stack in Ruby's format: methods without their classes, and methods written in C at the place of
// their callers.
func (s *stackLog) rubyFrames(id recording.StackID) string {
	var parts []string
	unplaced := 0
	for ; id != recording.NoStack; id = s.stacks[id].Caller {
		f := s.frames[s.stacks[id].Frame]
		if f.Type != recording.FrameRuby {
			continue
		}
		name := f.Function[strings.LastIndexAny(f.Function, "#.")+1:]
		if at := strings.LastIndex(name, " in "); at >= 0 {
			name = name[at+len(" in "):]
		}
		parts = append(parts, name)
		if f.File == "<cfunc>" {
			unplaced++
			continue
		}
		place := fmt.Sprintf(" %s:%d", filepath.Base(f.File), f.Line)
		for i := len(parts) - 1 - unplaced; i < len(parts); i++ {
			parts[i] += place
		}
		unplaced = 0
	}
	return strings.Join(parts, " < ")
}

// byThread returns which stacks were seen of each thread while it waited.
func (s *stackLog) byThread() map[int64]map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	tids, out := map[recording.ThreadID]int64{}, map[int64]map[string]bool{}
	for _, e := range s.events {
		switch f := e.Fact.(type) {
		case *recording.Thread:
			tids[f.ID] = f.TID
			out[f.TID] = map[string]bool{}
		case *recording.StackAt:
			if f.Origin == recording.StackBlocked {
				out[tids[f.Thread]][s.rubyFrames(f.Stack)] = true
			}
		}
	}
	return out
}

// dwell sees the stacks that Ruby reports for its threads, frame by frame.
func TestStacksOfRuby(t *testing.T) {
	service := startRuby(t)
	service.ask()
	log, stop := recordStacks(t, service.Process.Pid, "stacks.rb", DefaultStacks())
	told, agreed := map[string]int{}, map[string]int{}
	for range 30 {
		time.Sleep(70 * time.Millisecond)
		threads := service.ask()
		seen := log.byThread()
		for _, r := range threads {
			told[r.name]++
			if seen[r.tid][r.frames] {
				agreed[r.name]++
			}
		}
	}
	stop()
	t.Log("told by Ruby:", told, "of these seen:", agreed)
	for name, n := range told {
		if 2*agreed[name] < n {
			t.Errorf("%s: of %d stacks that Ruby told, %d were seen", name, n, agreed[name])
		}
	}
	if t.Failed() {
		seen := log.byThread()
		for _, r := range service.ask() {
			t.Logf("%s is at %s", r.name, r.frames)
			for frames := range seen[r.tid] {
				t.Log("   seen: ", frames)
			}
		}
	}
}
