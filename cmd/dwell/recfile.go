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

// readRecording reads a recording in either form, or says in the name of the command
// what is wrong with it and what to do.
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

// unread says that a recording cannot be read, why, and what to do.
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
	rec.Printable() // from here on every text may be shown
	return rec, nil
}

// fromStart is a file from its beginning on, and prepares for a large one.
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
		return io.NewSectionReader(f, 0, math.MaxInt64), nil // it may be read by several at once
	}
	return f, nil
}

// misread says why a recording cannot be read, and what to do.
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
	at      func(tl *timeline.Timeline, wall wallClock) (timeline.Time, error) // the moment that is asked for; nil: none is
}

// mostFacts is how many facts are analysed unless all are asked for: they take one to two gigabytes, by what they are of.
const mostFacts = 5_000_000

func (o *windowing) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.windows, "windows", "auto", "auto or off: of a recording of more than five million facts, analyse windows spread over its length, or (off) all of it, whatever memory that takes")
}

// part is what is read of a recording.
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

// asked is what is wrong with what was asked for, not with the recording.
type asked struct{ error }

func (e asked) orNil() error {
	if e.error == nil {
		return nil
	}
	return e
}

// rebuilt is what a recording says.
type rebuilt struct {
	*timeline.Timeline
	wall    wallClock
	excerpt *recording.Excerpt // nil: of all of it
}

// rebuild rebuilds what a recording says as it is read, and says so if it was cut off.
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

// rebuiltFrom rebuilds what a part of a recording says as it is read; once it is, read is called.
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

// saySpared says what of a recording is not there.
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
