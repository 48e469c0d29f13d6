package target

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// build returns the build id of an executable; "" if it has none, or cannot be read.
func (f *Files) build(file CodeFile) string {
	id, _ := recall(f, file, "its build id", buildID)
	return id
}

// buildID returns what the linker recorded: GNU's build id in hexadecimal digits, else Go's.
func buildID(file *elf.File) (string, error) {
	for _, of := range []struct {
		section, name string
		kind          uint32
	}{{".note.gnu.build-id", "GNU", 3}, {".note.go.buildid", "Go", 4}} {
		s := file.Section(of.section)
		if s == nil || s.Size > maxNote {
			continue
		}
		note, err := elffile.Data(s)
		if err != nil {
			return "", err
		}
		id, ok := noteOf(file, note, of.name, of.kind)
		switch {
		case !ok:
		case of.name == "GNU":
			return hex.EncodeToString(id[:min(len(id), maxBuildID/2)]), nil
		default:
			return plainText.FindString(string(id[:min(len(id), maxBuildID)])), nil
		}
	}
	return "", nil
}

const (
	maxNote    = 4 << 10
	maxBuildID = 96 // characters
)

// noteOf returns the content of a section's first note, if it has that name and kind.
func noteOf(file *elf.File, note []byte, name string, kind uint32) ([]byte, bool) {
	const head = 12
	if len(note) < head {
		return nil, false
	}
	named, said := uint64(file.ByteOrder.Uint32(note)), uint64(file.ByteOrder.Uint32(note[4:]))
	from := head + (named+3)&^3
	if file.ByteOrder.Uint32(note[8:]) != kind || from+said > uint64(len(note)) || string(bytes.TrimRight(note[head:head+named], "\x00")) != name {
		return nil, false
	}
	return note[from : from+said], true
}

// plainText matches build ids and versions. It excludes addresses with a password, lists of options and other values.
var plainText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+/:-]{0,95}$`)

// maxEnvironment is how many bytes of an environment are read.
const maxEnvironment = 256 << 10

// version returns the value of the configured variable in a process's environment; "" if none is configured. Nothing
// else of the environment is kept.
func (f *Files) version(pid int) (string, error) {
	if f.Version == "" {
		return "", nil
	}
	file, err := procfs.Open(procPath(pid, "environ"))
	if err != nil {
		return "", fmt.Errorf("its environment cannot be read: %w", err)
	}
	defer file.Close()
	all, err := io.ReadAll(io.LimitReader(file, maxEnvironment))
	if err != nil {
		return "", fmt.Errorf("its environment cannot be read: %w", err)
	}
	return versionIn(all, f.Version)
}

func versionIn(environment []byte, name string) (string, error) {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		value, ok := bytes.CutPrefix(variable, []byte(name+"="))
		switch {
		case !ok:
		case plainText.Match(value):
			return string(value), nil
		default:
			return "", fmt.Errorf("what %s says is no version: at most %d letters, digits and . _ + / : -", name, maxBuildID)
		}
	}
	return "", fmt.Errorf("its environment has no %s", name)
}
