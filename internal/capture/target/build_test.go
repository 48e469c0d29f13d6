package target

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Both a Go program and one made by the system's linker have a build id.
func TestBuildIDs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(dir, "named")
	if out, err := exec.Command("go", "build", "-ldflags=-buildid=build/7 -B 0x0123456789abcdef", "-o", named, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct{ what, file, want string }{
		{"the test itself", self, `^[A-Za-z0-9][A-Za-z0-9._/-]+$`},
		{"one whose linker was told", named, `^0123456789abcdef$`},
	} {
		file, err := elf.Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := buildID(file)
		file.Close()
		if err != nil || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %q, %v, want %s", c.what, got, err, c.want)
		}
	}
	p, err := Info(os.Getpid())
	if err != nil || p.Build == "" {
		t.Errorf("%+v, %v: no build id", p, err)
	}
}

// Only one variable of an environment is kept, and only if its value looks like a version.
func TestVersionIsAllThatIsKeptOfAnEnvironment(t *testing.T) {
	const environment = "PATH=/bin\x00TOKEN=s3cret with blanks\x00URL=https://user:s3cret@host\x00APP_VERSION=2026.11.25-7+g1f2e\x00APP_VERSION_KEY=x\x00"
	for name, want := range map[string]string{"APP_VERSION": "2026.11.25-7+g1f2e", "TOKEN": "", "URL": "", "VERSION": "", "APP": "", "APP_VERSION=2026": ""} {
		got, err := versionIn([]byte(environment), name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v tells a secret", name, err)
		}
	}
}
