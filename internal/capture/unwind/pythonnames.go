//go:build linux && (amd64 || arm64)

package unwind

import (
	"encoding/binary"
	"unicode/utf16"
	"unique"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// pythonNames names functions of Python that the profiler does not name: those with a control character or a
// non-ASCII letter. The names are read from the process's memory, and shown escaped like all names.
type pythonNames struct {
	code []uint64 // for the current stack, by its frames of Python: addresses of their code objects
}

// pythonCode is the name and file of a code object.
type pythonCode struct{ function, file string }

// gather is called before the profiler reports a stack.
func (p *pythonNames) gather(t *libpf.EbpfTrace) {
	p.code = p.code[:0]
	for rest := libpf.EbpfFrame(t.FrameData); len(rest) > 0; rest = rest[rest.Length():] {
		if f := rest[:rest.Length()]; !f.Flags().Error() && f.Type().IsInterpType(libpf.Python) {
			p.code = append(p.code, f.Variable(0))
		}
	}
}

// forTrace returns the addresses of the code objects, by the frames of a trace; nil if they cannot be determined.
func (p *pythonNames) forTrace(t *libpf.Trace) []uint64 { return byFrame(t, libpf.PythonFrame, p.code) }

// pythonCode reads the name of a Python frame that the profiler could not name.
func (s *stacks) pythonCode(frame unique.Handle[libpf.Frame], at uint64) pythonCode {
	if f := frame.Value(); at == 0 || f.Type != libpf.PythonFrame || f.FunctionName.String() != "" {
		return pythonCode{}
	}
	return readPythonCode(memoryOf(int(s.pid)), at)
}

// memoryOf reads the memory of a process.
func memoryOf(pid int) func(at uint64, into []byte) bool {
	return func(at uint64, into []byte) bool {
		n, err := procfs.Memory{PID: pid}.ReadAt(into, int64(at))
		return err == nil && n == len(into)
	}
}

// Layout of the parts of CPython that are read, for builds with the interpreter's lock. Differences between versions
// are detected from the content.
const (
	pythonCodeBytes = 320 // of a code object; they contain its texts
	pythonTypeAt    = 8   // in an object: its type
	pythonTypeName  = 24  // in a type: its name, as C has it
	pythonTextHead  = 72  // of a text: the most that can precede its characters
	pythonTextSize  = 16  // in a text: number of characters
	pythonTextState = 32  // how it is stored
	pythonTextASCII = 40  // its characters if all are ASCII; before Python 3.12 a word, usually 0, and then the characters
	pythonTextUTF8  = 48  // of another text: address of its UTF-8 form; before Python 3.12 the length of that form
	pythonTextWide  = 56  // and its characters; before Python 3.12 that address, a word, and then the characters
	maxPythonName   = 512 // characters that are read
)

// readPythonCode reads the names of a code object. It contains, one after the other, its file, its name and, since
// Python 3.11, its qualified name.
func readPythonCode(read func(at uint64, into []byte) bool, at uint64) pythonCode {
	object := make([]byte, pythonCodeBytes)
	if !read(at, object) {
		return pythonCode{}
	}
	var texts []string
	for ; len(object) >= 8 && len(texts) < 3; object = object[8:] {
		text, ok := readPythonText(read, binary.LittleEndian.Uint64(object))
		switch {
		case ok:
			texts = append(texts, text)
		case len(texts) >= 2: // these were all
			return pythonCode{function: texts[1], file: texts[0]}
		default:
			texts = nil
		}
	}
	if len(texts) < 3 {
		return pythonCode{}
	}
	return pythonCode{function: texts[2], file: texts[0]}
}

// readPythonText reads an object if it is a text.
func readPythonText(read func(at uint64, into []byte) bool, at uint64) (string, bool) {
	var head [pythonTextHead]byte
	if at%8 != 0 || at < 1<<12 || at>>47 != 0 || !read(at, head[:]) || !isPythonText(read, head[:]) {
		return "", false
	}
	size := binary.LittleEndian.Uint64(head[pythonTextSize:])
	state := binary.LittleEndian.Uint32(head[pythonTextState:])
	width, compact, ascii := uint64(state>>2&7), state>>5&1 != 0, state>>6&1 != 0
	if !compact || width != 1 && width != 2 && width != 4 || ascii && width != 1 {
		return "", false
	}
	data := make([]byte, min(size, maxPythonName)*width)
	if len(data) > 0 && !read(at+charactersAt(head[:], ascii), data) {
		return "", false
	}
	return pythonText(data, width), true
}

// charactersAt returns the offset of the characters in a text.
func charactersAt(head []byte, ascii bool) uint64 {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	utf8, longest := word(pythonTextUTF8), 4*word(pythonTextSize)
	switch {
	case ascii && word(pythonTextASCII) != 0:
		return pythonTextASCII
	case ascii:
		return pythonTextASCII + 8
	case utf8 == 0 && word(pythonTextWide) == 0, utf8 != 0 && utf8 <= longest:
		return pythonTextWide + 16
	}
	return pythonTextWide
}

// isPythonText reports whether an object's type is named str.
func isPythonText(read func(at uint64, into []byte) bool, object []byte) bool {
	var word [8]byte
	kind := binary.LittleEndian.Uint64(object[pythonTypeAt:])
	if kind%8 != 0 || kind < 1<<12 || kind>>47 != 0 || !read(kind+pythonTypeName, word[:]) {
		return false
	}
	var name [4]byte
	return read(binary.LittleEndian.Uint64(word[:]), name[:]) && string(name[:]) == "str\x00"
}

// pythonText decodes characters of one width, in bytes.
func pythonText(data []byte, width uint64) string {
	var text []rune
	switch width {
	case 1:
		for _, b := range data {
			text = append(text, rune(b))
		}
	case 2:
		var units []uint16
		for ; len(data) >= 2; data = data[2:] {
			units = append(units, binary.LittleEndian.Uint16(data))
		}
		text = utf16.Decode(units)
	case 4:
		for ; len(data) >= 4; data = data[4:] {
			text = append(text, rune(binary.LittleEndian.Uint32(data)))
		}
	}
	return string(text)
}
