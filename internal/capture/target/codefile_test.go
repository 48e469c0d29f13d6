package target

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Offsets read in a file are not used in a file that replaced it.
func TestCodeFileReplaced(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "lib.so"), filepath.Join(t.TempDir(), "lib.so")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, []byte("code"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	read, err := codeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := read.Open()
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Open(); !errors.Is(err, ErrReplaced) {
		t.Errorf("got %v, want %v", err, ErrReplaced)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Open(); !errors.Is(err, ErrNoProcess) {
		t.Errorf("got %v, want %v", err, ErrNoProcess)
	}
}

// A mapped file can be opened even if its name leads nowhere: in a chroot, where the names in the maps are those from
// outside, and after the file was deleted or replaced.
func TestMappedFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED-NO-BPF: only root opens what another process has mapped")
	}
	const program = `
import mmap, os, sys, time
library, then, where = sys.argv[1:]
with open(library, "rb") as f:
    code = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
if then == "chroot": os.chroot(where)
if then == "deleted": os.remove(library)
if then == "replaced": os.replace(where, library)
print("ready", flush=True)
time.sleep(60)`
	for _, then := range []string{"nothing", "chroot", "deleted", "replaced"} {
		t.Run(then, func(t *testing.T) {
			library, where := filepath.Join(t.TempDir(), "libssl.so.3"), t.TempDir()
			if then == "replaced" {
				where = filepath.Join(t.TempDir(), "new")
				write(t, where, "another")
			}
			write(t, library, "as it is mapped")
			pid, _ := start(t, "python3", "-c", program, library, then, where)
			found, err := TLSLibraries(pid)
			if err != nil || len(found) != 1 {
				t.Fatalf("found %v, %v", found, err)
			}
			file, err := found[0].File.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if got, _ := io.ReadAll(io.NewSectionReader(file, 0, 1<<20)); string(got) != "as it is mapped" {
				t.Errorf("opened %q", got)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
