package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/getdwell/dwell/recording"
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
	if info, err := f.Stat(); err == nil {
		if info.IsDir() {
			return nil, fail("name the recording inside it", errors.New("is a directory"))
		}
		useHugePages(info.Size())
	}
	rec, err := recording.LoadBy(workers(), f)
	var newer recording.NewerError
	switch {
	case err == nil:
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
	rec, err := readRecording(command, path)
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
	file *os.File
	path string
}

// createRecording makes the file at path, or one named by the time in the current
// directory if path is empty. It never replaces a file that is not a recording.
func createRecording(path string, now time.Time, owner invoker) (*recordingFile, error) {
	if path == "" {
		path = "dwell-" + now.Format("20060102-150405") + ".dwell"
	}
	if err := mayReplace(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write the recording: %w (name another place with -o)", err)
	}
	r := &recordingFile{file: f, path: path}
	if err := errors.Join(f.Chmod(0o600), owner.own(f)); err != nil {
		r.discard()
		return nil, fmt.Errorf("write the recording: %w", err)
	}
	if r.Writer, err = recording.NewWriter(f); err != nil {
		r.discard()
		return nil, err
	}
	return r, nil
}

// makeDirectory makes a directory for recordings, unless it is there.
func makeDirectory(path string, owner invoker) error {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil && owner.sudo {
		err = os.Chown(path, owner.uid, owner.gid)
	}
	return err
}

func mayReplace(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil // the open that follows says what is wrong, if anything
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("write the recording: %s is not a plain file (name another with -o)", path)
	}
	if !beginsRecording(path) {
		return fmt.Errorf("write the recording: %s exists and is not a recording (name another with -o)", path)
	}
	return nil
}

// enoughToTell is how much of a file shows whether it is a recording; bytes.
const enoughToTell = 64 << 10

// beginsRecording reports whether a file is a recording, by its beginning.
func beginsRecording(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = recording.Load(io.LimitReader(f, enoughToTell))
	return !errors.Is(err, recording.ErrNotRecording)
}

// close finishes the recording.
func (r *recordingFile) close() error {
	return errors.Join(r.Writer.Close(), r.file.Close())
}

// discard removes what was written, after an error.
func (r *recordingFile) discard() {
	r.file.Close()
	os.Remove(r.path)
}

// invoker is the user on whose behalf dwell runs as root.
type invoker struct {
	sudo     bool
	uid, gid int
	name     string
}

// whoInvoked reads what sudo says of its caller.
func whoInvoked(getenv func(string) string) invoker {
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	if err != nil || err2 != nil || uid == 0 || os.Geteuid() != 0 {
		return invoker{}
	}
	return invoker{sudo: true, uid: uid, gid: gid, name: getenv("SUDO_USER")}
}

func (i invoker) own(f *os.File) error {
	if !i.sudo {
		return nil
	}
	return f.Chown(i.uid, i.gid)
}
