package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/getdwell/dwell/recording"
)

const (
	// largeRecording is from what size on, in bytes, the memory that an analysis takes matters
	// more than a tenth of its time: it takes some forty times as much.
	largeRecording = 16 << 20
	// largePercent is how much garbage is left to lie then, in percent of what is in use (Go: 100).
	largePercent = 50
)

// readRecording reads a recording in either form, or says in the name of the command
// what is wrong with it and what to do.
func readRecording(command, path string) (*recording.Recording, error) {
	fail := func(remedy string, err error) error {
		return fmt.Errorf("dwell %s %s: %w (%s)", command, path, err, remedy)
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail("make one with dwell run or dwell attach, -o "+path, errors.New("no such file"))
	case errors.Is(err, fs.ErrPermission):
		return nil, fail("recordings belong to the user who made them: chown it, or use sudo", errors.New("permission denied"))
	case err != nil:
		return nil, fmt.Errorf("dwell %s: %w", command, err)
	}
	defer f.Close()
	return loadRecording(command, path, f)
}

// loadRecording reads a recording from an open file.
func loadRecording(command, path string, f *os.File) (*recording.Recording, error) {
	fail := func(remedy string, err error) error {
		return fmt.Errorf("dwell %s %s: %w (%s)", command, path, err, remedy)
	}
	var from io.Reader = f
	if info, err := f.Stat(); err == nil {
		if info.Mode().IsRegular() {
			from = io.NewSectionReader(f, 0, math.MaxInt64) // it may be read by several at once
		}
		if info.IsDir() {
			return nil, fail("name the recording inside it", errors.New("is a directory"))
		}
		useHugePages(info.Size())
		if info.Size() > largeRecording {
			debug.SetGCPercent(largePercent)
		}
	}
	rec, err := recording.LoadBy(workers(), from)
	var newer recording.NewerError
	switch {
	case err == nil:
		rec.Printable() // from here on every text may be shown
		return rec, nil
	case errors.Is(err, recording.ErrEmpty):
		return nil, fail("the recorder was stopped before its first second; record again", err)
	case errors.Is(err, recording.ErrNotRecording):
		return nil, fail("recordings are made by dwell run and dwell attach", err)
	case errors.As(err, &newer):
		return nil, fmt.Errorf("dwell %s %s: %w", command, path, err)
	default:
		return nil, fail("the file is damaged, or its text form was mistyped", err)
	}
}

// readWhole is readRecording that says, of a recording that was cut off, that it was.
func readWhole(w world, command, path string) (*recording.Recording, error) {
	return whyOptions{command: command, path: path}.read(w)
}

// read reads the recording as readWhole does.
func (o whyOptions) read(w world) (rec *recording.Recording, err error) {
	command, path := o.command, o.path
	if o.held != nil {
		rec, err = loadRecording(command, path, o.held)
	} else {
		rec, err = readRecording(command, path)
	}
	if err == nil && rec.LeftOut > 0 {
		fmt.Fprintf(w.err, "dwell %s %s: the file is damaged, or was made up: %d facts that no recording can hold are left out\n", command, path, rec.LeftOut)
	}
	switch {
	case err != nil:
		return nil, err
	case rec.Dropped > 0:
		fmt.Fprintf(w.err, "dwell %s %s: the recording is cut off: %d bytes at its end make no whole block; what came before is used\n", command, path, rec.Dropped)
	case rec.Truncated:
		fmt.Fprintf(w.err, "dwell %s %s: the recorder did not close the recording; what is there is used\n", command, path)
	}
	return rec, nil
}

// recordingFile is a recording being written. It belongs to the user who called
// sudo, and to nobody else: it says who talks to whom.
type recordingFile struct {
	*recording.Writer
	file    *sizedFile
	path    string
	place   *place // nil: of one that nobody keeps
	begun   func() // called when the first block is written, if not nil
	written bool   // there are facts
	flushed bool   // and a block of them
	taken   bool   // the file has its name
}

// createRecording makes the file of a recording that is to be at path, or at a name by the time in the
// current directory if path is empty. It has that name from its first block on, and replaces nothing but
// another recording.
func createRecording(path string, now time.Time, owner invoker) (*recordingFile, error) {
	if path == "" {
		path = "dwell-" + now.Format("20060102-150405") + ".dwell"
	}
	place, f, err := makeFile(path, owner)
	if owner.sudo && errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("write the recording with the rights of %s, who called sudo: %w (name a place of that user's with -o)", owner.name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("write the recording: %w (name another place with -o)", err)
	}
	return newRecording(&recordingFile{file: &sizedFile{File: f}, path: path, place: place})
}

// createPrivate makes a recording that has no name, and is gone when it is closed, however dwell ends.
func createPrivate() (*recordingFile, error) {
	f, err := os.CreateTemp("", "dwell-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("write the recording: %w", err)
	}
	return newRecording(&recordingFile{file: &sizedFile{File: f}, path: f.Name()})
}

func newRecording(r *recordingFile) (*recordingFile, error) {
	var err error
	if r.Writer, err = recording.NewWriter(r.file); err != nil {
		r.discard()
		return nil, err
	}
	return r, nil
}

// Write adds a fact.
func (r *recordingFile) Write(e recording.Event) error {
	r.written = true
	return r.Writer.Write(e)
}

// Flush writes the facts so far. The first time, it gives the file its name: a recorder that is killed
// leaves there what was flushed.
func (r *recordingFile) Flush() error {
	if err := r.Writer.Flush(); err != nil || !r.written || r.flushed {
		return err
	}
	if r.place != nil {
		if err := r.place.publish(); err != nil {
			return err
		}
		r.taken = true
	}
	if r.flushed = true; r.begun != nil {
		r.begun()
	}
	return nil
}

// close finishes the recording. What it is to replace is still kept.
func (r *recordingFile) close() error {
	return errors.Join(r.Flush(), r.Writer.Close())
}

// again opens the file once more, to be read when the rights to open it by its name may be given up; nil where that is impossible.
func (r *recordingFile) again() *os.File {
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", r.file.Fd()))
	if err != nil {
		return nil
	}
	return f
}

// keep ends the use of the file, which stays.
func (r *recordingFile) keep() {
	if r.place != nil {
		r.place.settle()
	}
	r.file.Close()
}

// discard makes it as if nothing had been recorded: what was to be replaced is there again.
func (r *recordingFile) discard() {
	if r.place != nil {
		r.place.withdraw(r.file.File)
	}
	r.file.Close()
}

// replaces reports whether there was another recording at its place.
func (r *recordingFile) replaces() bool { return r.place != nil && r.place.replaces() }

// read reads what was recorded.
func (r *recordingFile) read(command string) (*recording.Recording, error) {
	return loadRecording(command, r.path, r.file.File)
}

// temporaryFor makes a directory for recordings that nobody keeps.
func temporaryFor(owner invoker) (string, error) {
	dir, err := os.MkdirTemp("", "dwell-demo-")
	if err == nil && owner.sudo {
		err = os.Lchown(dir, owner.uid, owner.gid)
	}
	return dir, err
}
