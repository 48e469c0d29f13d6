//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// directoryOf returns a directory that belongs to a user.
func directoryOf(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dwell-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds checks the files in a directory by name.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if w, ok := want[e.Name()]; err != nil || !ok || w != string(data) {
			t.Errorf("%s holds %.60q, %v; want %.60q", e.Name(), data, err, w)
		}
	}
	if len(entries) != len(want) {
		t.Errorf("there are %v, want %d files", entries, len(want))
	}
}

func TestARecordingReplacesNothingButARecording(t *testing.T) {
	for name, text := range map[string]string{
		"prose":          "years of work",
		"comments":       "# precious notes\n\n# more of them\n",
		"blank lines":    "\n\n",
		"facts, by hand": "1 manifest tool=test\n2 end reason=time\n",
		"half a magic":   "\x89dwell",
	} {
		path := filepath.Join(t.TempDir(), "rec")
		put(t, path, []byte(text))
		_, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: new(fakeRecorder).open, path: path, length: time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "is not a recording") {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, filepath.Dir(path), map[string]string{"rec": text})
	}
}

func TestWhatIsThereOutlivesARecordingOfNothing(t *testing.T) {
	refused := errors.New("not permitted (try sudo)")
	before := string(binary(t))
	for name, o := range map[string]recordOptions{
		"no rights":          {open: func(*recordingFile, captureOptions) (recorder, func() pulse, error) { return nil, nil, refused }},
		"the target is gone": {open: (&fakeRecorder{watch: refused}).open},
		"it does not start":  {open: new(fakeRecorder).open, begin: func() error { return refused }},
		"it ends at once":    {open: new(fakeRecorder).open, length: time.Millisecond, worth: func(*recorded) bool { return false }},
		"interrupted":        {open: (&fakeRecorder{running: func() { syscall.Kill(os.Getpid(), syscall.SIGINT) }}).open},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "rec"), []byte(before))
		o.command, o.path, o.pids = "attach", filepath.Join(dir, "rec"), []int{1}
		if _, err := record(t.Context(), quiet(), o); (err == nil) != (o.worth != nil) {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, dir, map[string]string{"rec": before})
	}
}

// While it is being made, the recording already has its name and can be read.
func TestARecordingHasItsNameFromItsFirstBlockOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rec")
	put(t, path, binary(t))
	fake := new(fakeRecorder)
	fake.running = func() {
		if data, _ := os.ReadFile(path); !bytes.Equal(data, binary(t)) {
			t.Error("the recording before is gone though nothing is recorded")
		}
		if err := errors.Join(fake.begin(), fake.sink.Flush()); err != nil {
			t.Fatal(err)
		}
		if rec, err := readRecording("test", path); err != nil || !rec.Truncated || len(rec.Events) != 1 {
			t.Errorf("while it is being made: %+v, %v", rec, err)
		}
	}
	if _, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: fake.open, path: path, length: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

func TestTwoRecordersToOnePlace(t *testing.T) {
	for name, c := range map[string]struct {
		there []byte
		want  string
	}{
		"nothing is there":  {nil, "made by somebody else meanwhile"},
		"a recording is":    {binary(t), "being written by another dwell"},
		"an empty file is":  {[]byte{}, "being written by another dwell"},
		"and has its block": {nil, "being written by another dwell"},
	} {
		path := filepath.Join(t.TempDir(), "rec")
		if c.there != nil {
			put(t, path, c.there)
		}
		first := new(fakeRecorder)
		first.running = func() {
			second := new(fakeRecorder)
			second.running = func() { errors.Join(first.begin(), first.sink.Flush()) }
			if name == "and has its block" {
				second.running()
			}
			_, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: second.open, path: path, length: time.Millisecond})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the second says %v, want %q", name, err, c.want)
			}
		}
		if _, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: first.open, path: path, length: time.Millisecond}); err != nil {
			t.Errorf("%s: the first: %v", name, err)
		}
		if rec, err := readRecording("test", path); err != nil || rec.Dropped != 0 || rec.Truncated {
			t.Errorf("%s: the first recording is %+v, %v", name, rec, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}

// A user who may write to the recording's directory creates links there again and again.
func TestALinkThatAppearsLeadsNowhere(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	put(t, secret, []byte("of root"))
	path, link := filepath.Join(dir, "rec"), filepath.Join(dir, "link")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				os.Symlink(secret, link)
				os.Rename(link, path)
				os.Remove(path)
			}
		}
	}()
	for range 500 {
		if f, err := createRecording(path, time.Time{}, invoker{}); err == nil {
			f.discard()
		}
	}
	close(stop)
	<-stopped
	if data, err := os.ReadFile(secret); err != nil || string(data) != "of root" {
		t.Errorf("the file that the links lead to holds %.40q, %v", data, err)
	}
}

func TestLinksOfOthersAreNotFollowed(t *testing.T) {
	needRoot(t)
	ours, theirs := directoryOf(t, 0), directoryOf(t, 65534)
	for name, c := range map[string]struct {
		owner int
		want  string
	}{"root's": {0, ""}, "of another user": {65534, "a symbolic link of user 65534 is on the way"}} {
		link := filepath.Join(theirs, "out")
		if err := errors.Join(os.Symlink(ours, link), os.Lchown(link, c.owner, c.owner)); err != nil {
			t.Fatal(err)
		}
		f, err := createRecording(filepath.Join(link, "rec"), time.Time{}, invoker{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if f != nil {
			f.discard()
		}
		os.Remove(link)
	}
	holds(t, ours, nil)
}

// A file that another user created before and holds open is not recorded to.
func TestAPreparedFileShowsItsMakerNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec")
	put(t, path, nil)
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: new(fakeRecorder).open, path: path, length: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(held); err != nil || len(data) != 0 {
		t.Errorf("%d bytes are read through the file that was there: %v", len(data), err)
	}
}

// Under sudo, every command makes its recording with the rights of the caller.
func TestUnderSudoAFileIsMadeWithItsCallersRights(t *testing.T) {
	needRoot(t)
	dir := directoryOf(t, 0)
	if _, err := createRecording(filepath.Join(dir, "rec"), time.Time{}, invoker{sudo: true, uid: 65534, gid: 65534}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("in a directory of root's: %v", err)
	}
	holds(t, dir, nil)
}

// Root can still rename in another user's directory after giving up its rights.
func TestADirectoryOfAnotherUser(t *testing.T) {
	needRoot(t)
	dir := directoryOf(t, 65534)
	path := filepath.Join(dir, "rec")
	if _, err := record(t.Context(), quiet(), recordOptions{command: "attach", open: new(fakeRecorder).open, path: path, length: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a file of root's alone", info, err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}
