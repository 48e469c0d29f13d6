package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pageFile is a page that is being written.
type pageFile interface{ io.Writer }

// markedWithin is how many bytes from its beginning a page contains dwell's marker.
const markedWithin = 512

// replaceWith writes a new file next to path and renames it to path when it is complete. It uses the rights of the
// user who called sudo and never writes through a link. An existing file stays unchanged until then, and is replaced
// only if it has the marker near its beginning. Only that user may read the new file.
func replaceWith(path string, owner invoker, marker string, write func(pageFile) error) error {
	rights, err := owner.rights()
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	defer rights.end()
	err = rights.do(func() error {
		if err := hasMarker(path, marker); err != nil {
			return err
		}
		f, err := os.CreateTemp(filepath.Dir(path), ".dwell-*.html") // a new file, 0600, never through a link
		if err != nil {
			return fmt.Errorf("%w (name another place with -o)", err)
		}
		buffered := bufio.NewWriterSize(f, 1<<16)
		err = errors.Join(write(buffered), buffered.Flush(), f.Close())
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			os.Remove(f.Name())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// hasMarker returns an error unless the existing file is a plain file that has the marker or is empty.
func hasMarker(path, marker string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a plain file (name another with -o)", path)
	case info.Size() == 0:
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, markedWithin))
	if err != nil {
		return err
	}
	if !strings.Contains(string(head), marker) {
		return fmt.Errorf("%s exists and is not a page of dwell's (name another with -o)", path)
	}
	return nil
}
