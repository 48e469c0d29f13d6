package target

import (
	"debug/elf"
	"errors"
	"maps"
	"sync"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// Files caches what was found in the files of programs and libraries, so that a hundred processes of one executable
// need only one examination. The zero value is an empty cache. Several goroutines may use it. They do not wait for
// each other: two that ask at the same time may both examine the file.
type Files struct {
	Version string // the environment variable that contains a process's version; "": none is read

	mu     sync.Mutex
	known  map[question]answer
	bytes  int // approximate size of known
	looked int // how often a file was examined
}

// question is a question about a file. A file that was changed meanwhile is a different one.
type question struct {
	file FileID
	what string
}

type answer struct {
	says any
	err  error
}

// Limits of the cache; beyond them everything is dropped, and determined again when needed.
const (
	maxAnswers    = 1024
	maxRemembered = 64 << 20 // bytes
)

// largeAnswer is the size in bytes from which on Release drops an answer.
const largeAnswer = 1 << 20

// recall returns the answer to a question about a file; it examines the file if the answer is not known yet.
func recall[T any](f *Files, of CodeFile, what string, look func(*elf.File) (T, error)) (T, error) {
	q := question{of.ID, what}
	f.mu.Lock()
	known, ok := f.known[q]
	f.mu.Unlock()
	if ok {
		says, _ := known.says.(T)
		return says, known.err
	}
	var says T
	file, opened, err := of.openELF()
	if err == nil {
		says, err = look(file)
		opened.Close()
	}
	f.remember(q, answer{says, err})
	return says, err
}

// remember keeps an answer that will be the same the next time.
func (f *Files) remember(q question, a answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked++
	size := a.bytes()
	if !lasting(a.err) || size > maxRemembered {
		return
	}
	if f.known == nil || len(f.known) >= maxAnswers || f.bytes+size > maxRemembered {
		f.known, f.bytes = map[question]answer{}, 0
	}
	f.known[q] = a
	f.bytes += size
}

// bytes is the approximate size of an answer; 0 for a small one.
func (a answer) bytes() int {
	if large, ok := a.says.(interface{ bytes() int }); ok {
		return large.bytes()
	}
	return 0
}

// Release drops large answers. They are determined again if a later process needs them.
func (f *Files) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.known, func(_ question, a answer) bool {
		size := a.bytes()
		if size < largeAnswer {
			return false
		}
		f.bytes -= size
		return true
	})
}

// lasting reports whether there is no error, or the error is due to the content of the file.
func lasting(err error) bool {
	var form *elf.FormatError
	return err == nil || errors.Is(err, elffile.ErrTooLarge) || errors.Is(err, ErrUnsupported) || errors.As(err, &form)
}
