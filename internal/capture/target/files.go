package target

import (
	"debug/elf"
	"errors"
	"maps"
	"sync"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// Files remembers what was found in the files of programs and libraries: a hundred processes of one
// executable cost one look into it. The zero value remembers nothing yet. It is safe for use by several
// goroutines, which do not wait for each other: two that ask at once may both look.
type Files struct {
	Version string // the variable of a process's environment that says its version; "" none is looked at

	mu     sync.Mutex
	known  map[question]answer
	bytes  int // that known keeps, about
	looked int // how often a file was looked into
}

// question is what was asked of which file. One that was changed meanwhile is another one.
type question struct {
	file FileID
	what string
}

type answer struct {
	says any
	err  error
}

// What is remembered at most; beyond it all is forgotten, and found again where it is needed.
const (
	maxAnswers    = 1024
	maxRemembered = 64 << 20 // bytes
)

// largeAnswer is how many bytes make an answer one that Release drops.
const largeAnswer = 1 << 20

// recall is the answer to a question about a file; the file is looked into where it is not known yet.
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

// bytes is about how much memory an answer takes; 0 for one that takes little.
func (a answer) bytes() int {
	if large, ok := a.says.(interface{ bytes() int }); ok {
		return large.bytes()
	}
	return 0
}

// Release drops large answers. They are found again where a process that comes later needs them.
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

// lasting reports whether an error, if it is one, is due to what the file holds.
func lasting(err error) bool {
	var form *elf.FormatError
	return err == nil || errors.Is(err, elffile.ErrTooLarge) || errors.Is(err, ErrUnsupported) || errors.As(err, &form)
}
