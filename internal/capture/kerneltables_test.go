//go:build linux && (amd64 || arm64)

package capture

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// The table of a kernel is made from its BTF, which is /sys/kernel/btf/vmlinux on a running kernel:
//
//	go test ./internal/capture -run TablesOfKernels -btf /somewhere -update-kernels
//
// The directory contains BTF files named like the tables, such as 7.3.4-x86. The tables of all these kernels have to
// be made again when programs read types that no program read before.
var (
	btfDir        = flag.String("btf", "", "directory with BTF of kernels, called RELEASE-x86 or RELEASE-arm64")
	updateKernels = flag.Bool("update-kernels", false, "make tables of the kernels in -btf")
)

const tablesDir = "testdata/kernels"

// kernelTable describes a kernel: the types that the programs read, and the places where they are attached.
type kernelTable struct {
	name   string // release and processor
	arch   string
	fields map[string]shape
	places map[string]string // tp:NAME, func:NAME -> its arguments
}

func readKernels(t *testing.T) (all []kernelTable) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tablesDir, "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		all = append(all, readTable(t, file))
	}
	return all
}

func readTable(t *testing.T, file string) kernelTable {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	k := newTable(strings.TrimSuffix(filepath.Base(file), ".gz"))
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.Contains(name, ":") {
			k.places[name] = rest
			continue
		}
		var s shape
		if _, err := fmt.Sscan(rest, &s.kind, &s.size, &s.bits); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		k.fields[name] = s
	}
	return k
}

func newTable(name string) kernelTable {
	_, arch, _ := strings.Cut(name, "-")
	return kernelTable{name, arch, map[string]shape{}, map[string]string{}}
}

// write writes a table, one line per entry, in order.
func (k kernelTable) write(file string) error {
	var lines []string
	for field, s := range k.fields {
		lines = append(lines, fmt.Sprintf("%s %v\n", field, s))
	}
	for place, arguments := range k.places {
		lines = append(lines, place+" "+arguments+"\n")
	}
	slices.Sort(lines)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, strings.Join(lines, "")); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o644)
}

// Reading a table and writing it yields the same table.
func TestTablesOfKernels(t *testing.T) {
	if *updateKernels {
		makeTables(t)
	}
	for _, k := range readKernels(t) {
		file := filepath.Join(t.TempDir(), k.name+".gz")
		if err := k.write(file); err != nil {
			t.Fatal(err)
		}
		if again := readTable(t, file); !maps.Equal(again.fields, k.fields) || !maps.Equal(again.places, k.places) || again.arch != k.arch {
			t.Errorf("%s: another table when it is read again", k.name)
		}
	}
}

// makeTables makes a table of each kernel whose BTF is given.
func makeTables(t *testing.T) {
	t.Helper()
	types := map[string]bool{}
	for _, arch := range []string{"x86", "arm64"} {
		for field := range fieldsRead(t, arch) {
			owner, _, _ := strings.Cut(field, ".")
			types[owner] = true
		}
	}
	places := placesOf(t)
	files, err := filepath.Glob(filepath.Join(*btfDir, "*-*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no BTF in ", *btfDir, err)
	}
	for _, file := range files {
		spec, err := btf.LoadSpec(file)
		if err != nil {
			t.Fatal(err)
		}
		k := newTable(filepath.Base(file))
		for name := range types {
			k.add(name, kernelType(spec, name))
		}
		for place := range places {
			if arguments, there := argumentsAt(spec, place); there {
				k.places[place] = arguments
			}
		}
		if err := k.write(filepath.Join(tablesDir, k.name+".gz")); err != nil {
			t.Fatal(err)
		}
	}
}

// kernelType returns the kernel type with a name; nil if there is none with members.
func kernelType(spec *btf.Spec, name string) btf.Type {
	found, err := spec.AnyTypesByName(name)
	if err != nil {
		return nil
	}
	for _, t := range found {
		if membersOf(t) != nil {
			return t
		}
	}
	return nil
}

// add adds the fields of a type, including those of unnamed members.
func (k kernelTable) add(owner string, t btf.Type) {
	if t == nil {
		return
	}
	for _, m := range membersOf(t) {
		field := owner
		if m.Name != "" {
			field = owner + "." + m.Name
			k.fields[field] = shapeOf(m)
		}
		if typeName(m.Type, "") == "" && membersOf(m.Type) != nil {
			k.add(field, m.Type)
		}
	}
}
