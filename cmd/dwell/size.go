package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/spf13/cobra"
)

// defaultSize is the maximum size of a recording by default: more is hard to work with.
const defaultSize fileSize = 1_000_000_000

// smallestSize is enough for the first second of a recording of almost any service.
const smallestSize fileSize = 100_000

// fileSize is a number of bytes, as a flag; 0 is no limit.
type fileSize int64

// String implements pflag.Value.
func (s *fileSize) String() string { return strings.ReplaceAll(diagnosis.Bytes(int64(*s)), " ", "") }

// Type implements pflag.Value.
func (s *fileSize) Type() string { return "size" }

// Set implements pflag.Value.
func (s *fileSize) Set(text string) error {
	digits, unit := strings.TrimSuffix(strings.ToUpper(text), "B"), int64(1)
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}} {
		if cut, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = cut, u.bytes
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	n *= float64(unit)
	if err != nil || n != 0 && !(n >= float64(smallestSize) && n <= 1e15) {
		return errors.New("want a size such as 500MB or 2GB, of 100kB at least, or 0 for no limit")
	}
	*s = fileSize(n)
	return nil
}

func addSizeFlag(c *cobra.Command, s *fileSize) {
	*s = defaultSize
	c.Flags().Var(s, "max-size", "end the recording when its file reaches this size; 0: never")
}

// sizedFile is a file that signals when it reaches a size. Writing continues: the end of a recording must be stored.
type sizedFile struct {
	*os.File
	size, limit int64 // bytes; no limit: 0
	full        chan struct{}
}

// Write implements io.Writer.
func (f *sizedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	before := f.size
	if f.size += int64(n); f.limit > 0 && before < f.limit && f.size >= f.limit {
		close(f.full)
	}
	return n, err
}

// limitTo sets a limit before anything is written; the returned channel is closed when the limit is reached.
func (f *sizedFile) limitTo(limit fileSize) <-chan struct{} {
	f.limit, f.full = int64(limit), make(chan struct{})
	return f.full
}

// saySize says that a recording ended because of its size.
func saySize(w world, limit fileSize) {
	fmt.Fprintf(w.err, "the recording has grown to %s and ends here (--max-size)\n", limit.String())
}
