package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A hundred processes of one executable need one examination; another version of it needs another one.
func TestAnExecutableIsLookedIntoOnce(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "worker")
	content, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, content, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func() int {
		pid, _ := start(t, "sh", "-c", `echo ready; exec "$0" 65`, program)
		for exeName(pid) != "worker" { // the shell has to execute it first
		}
		return pid
	}
	var files Files
	var pids []int
	for range 20 {
		pids = append(pids, run())
	}
	look := func(pids []int) {
		t.Helper()
		for _, pid := range pids {
			p, err := files.Info(pid)
			if err != nil || p.Runtime != recording.RuntimeNative || p.Exe != "worker" {
				t.Fatalf("%+v, %v", p, err)
			}
			files.FindPythonCopies(pid)
		}
	}
	look(pids[:1])
	once := files.looked
	if once == 0 {
		t.Fatal("nothing was looked into")
	}
	look(pids)
	if files.looked != once {
		t.Errorf("looked %d times for one process, %d times for %d", once, files.looked, len(pids))
	}
	if err := os.Rename(program, program+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, append(content, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	look([]int{run()})
	if files.looked <= once {
		t.Error("another version was not looked into")
	}
}

// The cache is bounded, by number and by size.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	var files Files
	large := image{values: map[string]uint64{string(make([]byte, maxRemembered/4)): 1}}
	for i := range 3 * maxAnswers {
		q := question{file: FileID{inode: uint64(i)}}
		files.remember(q, answer{says: true})
		if i%100 == 0 {
			files.remember(q, answer{says: large})
		}
		if len(files.known) > maxAnswers || files.bytes > maxRemembered {
			t.Fatalf("%d answers, %d bytes", len(files.known), files.bytes)
		}
	}
	files.remember(question{what: "too much"}, answer{says: image{values: map[string]uint64{string(make([]byte, maxRemembered)): 1}}})
	files.remember(question{what: "gone"}, answer{err: ErrNoProcess})
	for _, what := range []string{"too much", "gone"} {
		if _, kept := files.known[question{what: what}]; kept {
			t.Errorf("kept: %s", what)
		}
	}
}

// Once programs are loaded, large answers are dropped, and determined again when needed.
func TestLargeAnswersAreReleased(t *testing.T) {
	var files Files
	small, large := question{what: "small"}, question{what: "large"}
	files.remember(small, answer{says: image{values: map[string]uint64{"a symbol": 1}}})
	kept := files.bytes
	files.remember(large, answer{says: image{values: map[string]uint64{string(make([]byte, largeAnswer)): 1}}})
	files.Release()
	if _, is := files.known[large]; is || len(files.known) != 1 || files.bytes != kept {
		t.Errorf("%d answers of %d bytes are kept, want one of %d", len(files.known), files.bytes, kept)
	}
}
