package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/recording"
)

// fakeRecorder writes an empty recording until it is told to stop.
type fakeRecorder struct {
	sink    *recordingFile
	watch   error
	refused map[int]error // by pid
	running func()        // called when Run begins, if not nil
	begun   bool
}

func (f *fakeRecorder) Watch(pid int) error { return errors.Join(f.watch, f.refused[pid]) }

func (f *fakeRecorder) Run(ctx context.Context) error {
	if f.running != nil {
		f.running()
	}
	<-ctx.Done()
	return errors.Join(f.begin(), f.sink.Write(recording.Event{Time: 2, Fact: &recording.End{Reason: "time"}}))
}

// begin writes the first fact, once.
func (f *fakeRecorder) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	return f.sink.Write(recording.Event{Time: 1, Fact: &recording.Manifest{Tool: "test"}})
}

func (f *fakeRecorder) Close() error { return nil }

func (f *fakeRecorder) open(sink *recordingFile, _ captureOptions) (recorder, func() pulse, error) {
	f.sink = sink
	return f, func() pulse { return pulse{} }, nil
}

func quiet(env ...string) world {
	return world{out: io.Discard, err: io.Discard, getenv: environment(env...)}
}

// If several processes are chosen, one may have ended; if the only one, or all, have ended, that is an error.
func TestWhoEndedIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		pids  []int
		ended map[int]error
		fails bool
	}{
		{[]int{1, 2}, map[int]error{2: capture.ErrEnded}, false},
		{[]int{1, 2}, map[int]error{1: capture.ErrEnded}, false},
		{[]int{1, 2}, map[int]error{1: capture.ErrEnded, 2: capture.ErrEnded}, true},
		{[]int{1}, map[int]error{1: capture.ErrEnded}, true},
		{[]int{1, 2}, map[int]error{1: errors.New("refused")}, true},
	} {
		o := recordOptions{pids: c.pids}
		if err := o.watch(t.Context(), &fakeRecorder{refused: c.ended}); (err != nil) != c.fails {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestRecordEndsAfterItsLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec")
	r, err := record(t.Context(), quiet(), recordOptions{
		command: "attach", open: new(fakeRecorder).open, path: path, pids: []int{1}, length: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := readRecording("test", r.path); err != nil || len(rec.Events) != 2 || r.interrupted {
		t.Errorf("%v, %v, interrupted %v; want both events and no interruption", rec, err, r.interrupted)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestASignalEndsARecordingProperly(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // reached only on failure
		defer cancel()
		fake := &fakeRecorder{running: func() { syscall.Kill(os.Getpid(), s) }}
		r, err := record(ctx, quiet(), recordOptions{
			command: "attach", path: filepath.Join(t.TempDir(), "rec"), pids: []int{1}, open: fake.open,
		})
		if err != nil || !r.interrupted || ctx.Err() != nil {
			t.Errorf("%v: %+v, %v; want an interrupted recording and no error", s, r, err)
		}
	}
}

func TestAFailureLeavesNoFile(t *testing.T) {
	refused := errors.New("not permitted (try sudo)")
	for name, o := range map[string]recordOptions{
		"open":  {open: func(*recordingFile, captureOptions) (recorder, func() pulse, error) { return nil, nil, refused }},
		"watch": {open: (&fakeRecorder{watch: refused}).open},
		"begin": {open: new(fakeRecorder).open, begin: func() error { return refused }},
	} {
		dir := t.TempDir()
		o.command, o.path, o.pids = "attach", filepath.Join(dir, "rec"), []int{1}
		_, err := record(t.Context(), quiet(), o)
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %s was left", name, left[0].Name())
		}
	}
}

func TestUnderSudoARecordingBelongsToItsCaller(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(directoryOf(t, 65534), "rec")
	w := quiet("SUDO_UID=65534", "SUDO_GID=65534")
	if _, err := record(t.Context(), w, recordOptions{command: "attach", open: new(fakeRecorder).open, path: path, length: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 65534 {
		t.Errorf("it belongs to uid %d", owner)
	}
}

// A user who stops dwell while its programs are being loaded gets no empty recording.
func TestInterruptedBeforeRecordingBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "rec")
	_, err := record(ctx, quiet(), recordOptions{command: "attach", open: new(fakeRecorder).open, path: path, pids: []int{1}})
	if err == nil || err.Error() != "dwell attach: interrupted before recording began" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a recording is left: %v", err)
	}
}

func TestWhatTakesLongIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		long, takes time.Duration
		want        string
	}{
		"it takes long": {long: time.Millisecond, takes: 100 * time.Millisecond, want: "loading\n"},
		"it does not":   {long: time.Hour, want: ""},
	} {
		var out strings.Builder
		over := sayIfSlow(&out, c.long, "loading")
		time.Sleep(c.takes)
		if over(); out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}
