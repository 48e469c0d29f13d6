package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Functions of programs built in every usual way: the table of a stripped program must agree with the symbols of the
// same program.
func TestGoFunctions(t *testing.T) {
	const parked, absent = "runtime.gopark", "net/http.(*persistConn).roundTrip"
	for _, b := range []struct {
		name, cgo string
		flags     []string
	}{
		{"static", "0", nil},
		{"pie", "0", []string{"-buildmode=pie"}},
		{"cgo", "1", nil},
		{"cgo pie", "1", []string{"-buildmode=pie"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); err != nil && b.cgo == "1" {
				t.Skip("no C compiler")
			}
			var found [2]GoFunction
			var code [2]string
			for i, flags := range []string{"-ldflags=", "-ldflags=-s -w"} {
				exe := filepath.Join(t.TempDir(), "goids")
				build := exec.Command("go", append(append([]string{"build", "-o", exe}, b.flags...), flags, "./testdata/goids")...)
				build.Env = append(os.Environ(), "CGO_ENABLED="+b.cgo)
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("build: %v\n%s", err, out)
				}
				pid, _ := start(t, exe)
				p, err := GoFunctions(pid, parked, absent)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Functions) != 1 || p.Functions[parked].Size == 0 {
					t.Fatalf("found %+v", p.Functions)
				}
				found[i] = p.Functions[parked]
				data, err := os.ReadFile(exe)
				if err != nil {
					t.Fatal(err)
				}
				at := found[i].Offset
				code[i] = string(data[at : at+16])
			}
			if code[0] != code[1] {
				t.Errorf("with symbols at %+v: % x; stripped at %+v: % x", found[0], code[0], found[1], code[1])
			}
		})
	}
}
