//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// A recorder that has dropped its rights, and its helper, can do no more than they need: other attempts are refused,
// on any thread. What they need still works.
func TestConfinedProcess(t *testing.T) {
	if dir := os.Getenv("CONFINED_TO"); dir != "" {
		tryWhatIsRefused(dir)
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	confined := exec.Command(os.Args[0], "-test.run", "^TestConfinedProcess$")
	confined.Env = append(os.Environ(), "CONFINED_TO="+dir)
	out, err := confined.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "as it should be") {
		t.Errorf("%v\n%s", err, out)
	}
}

func tryWhatIsRefused(dir string) {
	file, err := os.Create(filepath.Join(dir, "open"))
	if err == nil {
		err = errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), confine([]string{dir}), refuseCalls(false))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, landlocked := unix.Open(filepath.Join(dir, "old"), unix.O_WRONLY, 0)
	_, socket := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	for what, is := range map[string]bool{
		"a program is started":        errors.Is(unix.Exec("/bin/true", nil, nil), fs.ErrPermission),
		"a socket is made":            errors.Is(socket, unix.EPERM),
		"something is mounted":        errors.Is(unix.Mount("none", "/mnt", "tmpfs", 0, ""), unix.EPERM),
		"a name space is entered":     errors.Is(unix.Unshare(unix.CLONE_NEWUSER), unix.EPERM),
		"another file is written":     errors.Is(landlocked, unix.EACCES),
		"a file is made elsewhere":    errors.Is(os.Mkdir(filepath.Join(os.TempDir(), "dwell-confined"), 0o700), fs.ErrPermission),
		"an open file is not written": errors.Is(second(file.WriteString("x")), nil),
		"a file is not renamed":       os.Rename(filepath.Join(dir, "open"), filepath.Join(dir, "named")) == nil,
	} {
		if !is {
			fmt.Println(what)
			os.Exit(1)
		}
	}
	fmt.Println("as it should be")
}

func second(_ int, err error) error { return err }

// If no helper can be started, the recorder keeps the rights to examine processes, and no others, and says so.
func TestRecorderWithoutHelper(t *testing.T) {
	if os.Getenv("WITHOUT_HELPER") != "" {
		fmt.Println(DropRights(Keeping{Helper: func() (*os.File, error) { return nil, errors.New("too many processes") }}))
		if err := DropLast(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(cap.GetProc())
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED-NO-BPF: who has no rights keeps none")
	}
	recorder := exec.Command(os.Args[0], "-test.run", "^TestRecorderWithoutHelper$")
	recorder.Env = append(os.Environ(), "WITHOUT_HELPER=1")
	out, err := recorder.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	said, kept, _ := strings.Cut(string(out), "\n")
	if !strings.Contains(said, "those to examine processes are kept, as there is no helper for that: too many processes") {
		t.Errorf("it said %q", said)
	}
	kept, _, _ = strings.Cut(kept, "\n")
	if want := "cap_dac_read_search,cap_sys_ptrace,cap_perfmon,cap_bpf,cap_checkpoint_restore=ep"; kept != want {
		t.Errorf("it kept %q, want %q", kept, want)
	}
}
