package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// readRecording reads a recording in either form. Its errors name the command, the problem and the remedy.
func readRecording(command, path string) (*recording.Recording, error) {
	f, err := openRecording(command, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return loadRecording(command, path, f)
}

// openRecording opens the file of a recording.
func openRecording(command, path string) (*os.File, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unread(command, path, errors.New("no such file"), "make one with dwell run or dwell attach, -o "+path)
	case errors.Is(err, fs.ErrPermission):
		return nil, unread(command, path, errors.New("permission denied"), "recordings belong to the user who made them: chown it, or use sudo")
	case err != nil:
		return nil, fmt.Errorf("dwell %s: %w", command, err)
	}
	return f, nil
}

// unread is the error for a recording that cannot be read, with the reason and a remedy.
func unread(command, path string, why error, remedy string) error {
	return fmt.Errorf("dwell %s %s: %w (%s)", command, path, why, remedy)
}

// loadRecording reads a recording from an open file.
func loadRecording(command, path string, f *os.File) (*recording.Recording, error) {
	from, err := fromStart(command, path, f)
	if err != nil {
		return nil, err
	}
	rec, err := recording.LoadBy(workers(), from)
	if err != nil {
		return nil, misread(command, path, err)
	}
	rec.Printable() // from here on every text is safe to show
	return rec, nil
}

// fromStart returns a reader from the file's beginning. It also prepares for a large file.
func fromStart(command, path string, f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return f, nil
	case info.IsDir():
		return nil, unread(command, path, errors.New("is a directory"), "name the recording inside it")
	}
	useHugePages(info.Size())
	boundGarbage(info.Size())
	if info.Mode().IsRegular() {
		return io.NewSectionReader(f, 0, math.MaxInt64), nil // several readers may use it at once
	}
	return f, nil
}

// misread explains why a recording cannot be read, with a remedy.
func misread(command, path string, err error) error {
	var newer recording.NewerError
	switch {
	case errors.Is(err, recording.ErrEmpty):
		return unread(command, path, err, "the recorder was stopped before its first second; record again")
	case errors.Is(err, recording.ErrNotRecording):
		return unread(command, path, err, "recordings are made by dwell run and dwell attach")
	case errors.As(err, &newer):
		return fmt.Errorf("dwell %s %s: %w", command, path, err)
	}
	return unread(command, path, err, "the file is damaged, or its text form was mistyped")
}

// windowing says how much of a recording is analysed.
type windowing struct {
	windows string                                                             // "auto" or "off"; "" is auto
	most    int64                                                              // facts; 0: mostFacts
	at      func(tl *timeline.Timeline, wall wallClock) (timeline.Time, error) // the requested moment; nil: none
}

// mostFacts is how many facts are analysed unless all are requested. They take one to two gigabytes, depending on
// their kind.
const mostFacts = 5_000_000

func (o *windowing) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.windows, "windows", "auto", "auto or off: for a recording of more than five million facts, analyse windows spread over its length, or (off) all of it, whatever memory that takes")
}

// part returns which part of a recording is read.
func (o windowing) part() (recording.Part, error) {
	switch o.windows {
	case "off":
		return recording.Part{}, nil
	case "auto", "":
		p := recording.Part{Most: cmp.Or(o.most, mostFacts)}
		if o.at != nil {
			p.Around = func(v recording.Overview) (recording.Time, error) {
				at, err := o.at(&timeline.Timeline{Start: v.Start, End: v.End, Windows: []timeline.Window{{From: v.Start, To: v.End}}}, newWallClock(v.Clocks))
				return at, asked{err}.orNil()
			}
		}
		return p, nil
	}
	return recording.Part{}, fmt.Errorf("--windows %q is neither auto nor off", o.windows)
}

// asked is an error in the request, not in the recording.
type asked struct{ error }

func (e asked) orNil() error {
	if e.error == nil {
		return nil
	}
	return e
}

// rebuilt is a timeline built from a recording.
type rebuilt struct {
	*timeline.Timeline
	wall    wallClock
	excerpt *recording.Excerpt // nil: all of it was read
}

// rebuild builds the timeline while it reads a recording, and prints a message if the recording was cut off.
func (o whyOptions) rebuild(w world) (rebuilt, error) {
	f := o.held
	if f == nil {
		var err error
		if f, err = openRecording(o.command, o.path); err != nil {
			return rebuilt{}, err
		}
		defer f.Close()
	}
	part, err := o.windowing.part()
	if err != nil {
		return rebuilt{}, fmt.Errorf("dwell %s: %w", o.command, err)
	}
	from, err := fromStart(o.command, o.path, f)
	if err != nil {
		return rebuilt{}, err
	}
	got, err := rebuiltFrom(from, part, func(rec *recording.Recording) { saySpared(w, o.command, o.path, rec) })
	var wrong asked
	switch {
	case errors.As(err, &wrong):
		return rebuilt{}, fmt.Errorf("dwell %s %s: %w", o.command, o.path, wrong.error)
	case err != nil:
		return rebuilt{}, misread(o.command, o.path, err)
	}
	if got.excerpt != nil && !o.tells {
		fmt.Fprintf(w.err, "dwell %s %s: %s\n", o.command, o.path, report.NewExcerpt(got.Timeline, got.excerpt).Text())
	}
	return got, nil
}

// rebuiltFrom builds the timeline while it reads a part of a recording, and calls read when it has been read.
func rebuiltFrom(from io.Reader, part recording.Part, read func(*recording.Recording)) (got rebuilt, err error) {
	part.Brief = true
	got.Timeline, err = build.From(workers(), func(each func(recording.Event)) (*recording.Recording, error) {
		rec, err := part.Stream(workers(), from, func(e recording.Event) { got.wall.note(e); each(e) })
		if err == nil {
			read(rec)
			got.excerpt = rec.Excerpt
		}
		return rec, err
	})
	return got, err
}

// saySpared says which parts of a recording are missing.
func saySpared(w world, command, path string, rec *recording.Recording) {
	if rec.LeftOut > 0 {
		fmt.Fprintf(w.err, "dwell %s %s: the file is damaged, or was made up: %d facts that no recording can hold are left out\n", command, path, rec.LeftOut)
	}
	switch {
	case rec.Dropped > 0:
		fmt.Fprintf(w.err, "dwell %s %s: the recording is cut off: %d bytes at its end make no whole block; what came before is used\n", command, path, rec.Dropped)
	case rec.Truncated:
		fmt.Fprintf(w.err, "dwell %s %s: the recorder did not close the recording; what is there is used\n", command, path)
	}
}

// recordingFile is a recording being written. Only the user who called sudo may access it: it contains who talks to
// whom.
type recordingFile struct {
	*recording.Writer
	file    *sizedFile
	path    string
	place   *place // nil for a private recording
	begun   func() // called when the first block is written, if not nil
	written bool   // facts were written
	flushed bool   // and a block of them was flushed
	taken   bool   // the file has its name
}

// createRecording creates a recording's file for path, or for a name made from the time in the current directory if
// path is empty. The file gets that name with its first block, and replaces nothing but another recording.
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

// createPrivate creates a recording without a name. It is gone when it is closed, however dwell ends.
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

// Flush writes the facts so far. The first time, it gives the file its name: if the recorder is killed, what was
// flushed remains there.
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

// close finishes the recording. The file that it replaces is still kept.
func (r *recordingFile) close() error {
	return errors.Join(r.Flush(), r.Writer.Close())
}

// again opens the file a second time, so that it can be read when dwell may no longer open it by name; nil if that
// fails.
func (r *recordingFile) again() *os.File {
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", r.file.Fd()))
	if err != nil {
		return nil
	}
	return f
}

// keep closes the file and keeps it.
func (r *recordingFile) keep() {
	if r.place != nil {
		r.place.settle()
	}
	r.file.Close()
}

// discard removes the recording and restores the file that it replaced.
func (r *recordingFile) discard() {
	if r.place != nil {
		r.place.withdraw(r.file.File)
	}
	r.file.Close()
}

// replaces reports whether there was another recording with this name.
func (r *recordingFile) replaces() bool { return r.place != nil && r.place.replaces() }

// read reads what was recorded.
func (r *recordingFile) read(command string) (*recording.Recording, error) {
	return loadRecording(command, r.path, r.file.File)
}

// temporaryFor makes a directory for temporary recordings.
func temporaryFor(owner invoker) (string, error) {
	dir, err := os.MkdirTemp("", "dwell-demo-")
	if err == nil && owner.sudo {
		err = os.Lchown(dir, owner.uid, owner.gid)
	}
	return dir, err
}
