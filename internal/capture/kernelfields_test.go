//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// shape is the type of a kernel field: an integer (including enums and booleans), a pointer, or bytes, which is
// everything that is not one value.
type shape struct {
	kind string
	size int // in bytes
	bits int // of a bit field; 0: it is not one
}

func (s shape) String() string { return fmt.Sprintf("%s %d %d", s.kind, s.size, s.bits) }

// fits reports whether a field read as s may be read if the kernel has k.
func (s shape) fits(k shape) bool {
	if s.kind == "bytes" && k.kind == "bytes" {
		return s.size <= k.size
	}
	return s == k
}

// alternative is a field that some kernels lack or have with another type.
type alternative struct {
	field string
	in    string // the kernels, as the beginnings of their names
	group string // whose programs handle it
	how   string
}

// alternatives are all of them. Any other field exists with the shape with which it is read.
func alternatives() []alternative {
	const older = "5.15. 6.1. 6.12. 6.18. 7.0." // than the other kernels that have tables
	return []alternative{
		{"task_struct.on_rq", older + " 7.1.", "threads", "the first byte of an int that is 0 to 2 is read"},
		{"dentry.d_alias", older, "page-faults", "it is in d_u"},
		{"dentry.d_u", "7.1. 7.2. 7.3.", "page-faults", "d_alias is the entry's own"},
		{"dentry.d_u.d_alias", "7.1. 7.2. 7.3.", "page-faults", "d_alias is the entry's own"},
		{"sock.sk_userlocks", "5.15. 6.1.", "writes", "four bits of a byte, which are read as a bit field is"},
		{"mptcp_sock.bytes_received", "5.15. 6.1.", "arrivals", "of connections over several paths no arrival is known"},
		{"mptcp_sock.bytes_consumed", "5.15. 6.1.", "arrivals", "of connections over several paths no arrival is known"},
	}
}

// Every field that the committed programs read exists in each of these kernels, with the size with which it is read.
// If a kernel deviates, either the program tests the field's existence or the field's group has another way; both
// must be listed in alternatives.
func TestFieldsAreInEveryKernel(t *testing.T) {
	kernels := readKernels(t)
	if len(kernels) < 7 {
		t.Fatalf("tables of %d kernels, want 7 at least", len(kernels))
	}
	met := map[alternative]bool{}
	for _, arch := range []string{"x86", "arm64"} {
		fields := fieldsRead(t, arch)
		if len(fields) < 100 {
			t.Fatalf("the programs for %s read %d fields: most were not found", arch, len(fields))
		}
		for _, k := range kernels {
			if k.arch != arch {
				continue
			}
			for _, p := range problemsOf(fields, k) {
				if a, known := alternativeFor(p.field, k.name); known {
					met[a] = true
				} else {
					t.Errorf("%s: %s", k.name, p.said)
				}
			}
		}
	}
	for _, a := range alternatives() {
		if !met[a] {
			t.Errorf("%s in %s: has an alternative, and needs none", a.field, a.in)
		}
	}
}

// problem is a field that differs from what is read.
type problem struct{ field, said string }

// problemsOf compares what is read with what a kernel has.
func problemsOf(fields map[string]shape, k kernelTable) (all []problem) {
	for field, read := range fields {
		has, there := k.fields[field]
		switch {
		case !there:
			all = append(all, problem{field, field + " is absent"})
		case !read.fits(has):
			all = append(all, problem{field, fmt.Sprintf("%s is read as %v, and is %v", field, read, has)})
		}
	}
	slices.SortFunc(all, func(a, b problem) int { return strings.Compare(a.field, b.field) })
	return all
}

func alternativeFor(field, kernel string) (alternative, bool) {
	for _, a := range alternatives() {
		if a.field == field && slices.ContainsFunc(strings.Fields(a.in), func(name string) bool { return strings.HasPrefix(kernel, name) }) {
			return a, true
		}
	}
	return alternative{}, false
}

// Changes that other releases made to fields are detected: another size, another kind, a missing field.
func TestChangedFieldsAreNoticed(t *testing.T) {
	read := map[string]shape{"task_struct.on_rq": {"int", 4, 0}, "sock.sk_err": {"int", 4, 0}, "task_struct.comm": {"bytes", 16, 0}, "tcp_sock.nonagle": {"int", 1, 4}}
	for want, change := range map[string]func(map[string]shape){
		"": func(map[string]shape) {},
		"task_struct.on_rq is read as int 4 0, and is int 1 0":      func(k map[string]shape) { k["task_struct.on_rq"] = shape{"int", 1, 0} },
		"task_struct.comm is read as bytes 16 0, and is bytes 12 0": func(k map[string]shape) { k["task_struct.comm"] = shape{"bytes", 12, 0} },
		"sock.sk_err is read as int 4 0, and is ptr 8 0":            func(k map[string]shape) { k["sock.sk_err"] = shape{"ptr", 8, 0} },
		"tcp_sock.nonagle is read as int 1 4, and is int 1 0":       func(k map[string]shape) { k["tcp_sock.nonagle"] = shape{"int", 1, 0} },
		"sock.sk_err is absent":                                     func(k map[string]shape) { delete(k, "sock.sk_err") },
	} {
		k := kernelTable{fields: map[string]shape{"task_struct.comm": {"bytes", 32, 0}}}
		for field, s := range read {
			if field != "task_struct.comm" {
				k.fields[field] = s
			}
		}
		change(k.fields)
		var said []string
		for _, p := range problemsOf(read, k) {
			said = append(said, p.said)
		}
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Every change of the size of a field that the programs read is detected.
func TestNoFieldChangesUnseen(t *testing.T) {
	for _, k := range readKernels(t) {
		fields := fieldsRead(t, k.arch)
		before := len(problemsOf(fields, k))
		for field, was := range k.fields {
			read, isRead := fields[field]
			if !isRead || !read.fits(was) || read.size == 0 {
				continue
			}
			k.fields[field] = shape{was.kind, read.size - 1, was.bits}
			if len(problemsOf(fields, k)) != before+1 {
				t.Errorf("%s: %s of %d bytes in place of %d: not noticed", k.name, field, read.size-1, read.size)
			}
			k.fields[field] = was
		}
	}
}

// objectFiles are the committed programs for a processor.
func objectFiles(t *testing.T, arch string) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{".", "unwind"} {
		found, err := filepath.Glob(filepath.Join(dir, "*_"+arch+"_bpfel.o"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// fieldsRead are the kernel fields that the programs for a processor read: those whose positions are filled in at
// load time.
func fieldsRead(t *testing.T, arch string) map[string]shape {
	t.Helper()
	fields := map[string]shape{}
	for _, name := range objectFiles(t, arch) {
		spec, err := ebpf.LoadCollectionSpec(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range spec.Programs {
			for i := range program.Instructions {
				if relocation := btf.CORERelocationMetadata(&program.Instructions[i]); relocation != nil {
					addRead(t, fields, spec.Types, relocation.String())
				}
			}
		}
	}
	return fields
}

// relocated matches the library's output for a relocation: its kind, the path to the field as indexes of members, and
// the type in which the path begins.
var relocated = regexp.MustCompile(`^CORERelocation\((\w+), .*\[([0-9:]+)\], local_id=(\d+)\)$`)

// addRead adds the fields on the path of a relocation.
func addRead(t *testing.T, fields map[string]shape, types *btf.Spec, relocation string) {
	t.Helper()
	m := relocated.FindStringSubmatch(relocation)
	if m == nil {
		t.Fatalf("%s: cannot be read; does the library print it otherwise now?", relocation)
	}
	id, err := strconv.ParseUint(m[3], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	root, err := types.TypeByID(btf.TypeID(id))
	if err != nil {
		t.Fatal(err)
	}
	owner := typeName(root, "")
	at := root
	for _, index := range strings.Split(m[2], ":")[1:] {
		i, err := strconv.Atoi(index)
		if err != nil {
			t.Fatal(err)
		}
		if array, ok := btf.UnderlyingType(at).(*btf.Array); ok {
			at = array.Type
			continue
		}
		members := membersOf(at)
		if i >= len(members) {
			return // a value of an enum
		}
		field := owner
		if members[i].Name != "" {
			field = owner + "." + members[i].Name
			fields[field] = shapeOf(members[i])
		}
		at = members[i].Type
		owner = typeName(at, field)
	}
}

// typeName returns the name of a type, without the part after ___ that distinguishes its variants. An unnamed type is
// named after its position.
func typeName(t btf.Type, where string) string {
	for {
		if array, ok := t.(*btf.Array); ok {
			t = array.Type
			continue
		}
		if name := t.TypeName(); name != "" {
			name, _, _ = strings.Cut(name, "___")
			return name
		}
		switch q := t.(type) {
		case *btf.Const:
			t = q.Type
		case *btf.Volatile:
			t = q.Type
		default:
			return where
		}
	}
}

func membersOf(t btf.Type) []btf.Member {
	switch c := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		return c.Members
	case *btf.Union:
		return c.Members
	case *btf.Array:
		return membersOf(c.Type)
	}
	return nil
}

func shapeOf(m btf.Member) shape {
	s := shape{kind: "bytes", bits: int(m.BitfieldSize)}
	switch btf.UnderlyingType(m.Type).(type) {
	case *btf.Int, *btf.Enum:
		s.kind = "int"
	case *btf.Pointer:
		s.kind = "ptr"
	}
	s.size, _ = btf.Sizeof(m.Type) // 0: not known
	return s
}
