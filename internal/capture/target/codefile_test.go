package target

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Offsets that were read in a file are not used in the one that took its place.
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
