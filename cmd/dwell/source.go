package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// maxSource bounds a source file, in bytes.
const maxSource = 4 << 20

// sourceOptions say where source code may be found.
type sourceOptions struct {
	root string
	jars []string
}

func (o *sourceOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.root, "source-root", "", "directory of the service's source code, if the paths that its runtime reports are not valid here")
	c.Flags().StringArrayVar(&o.jars, "jar", nil, "a jar of the service, or a directory of jars and classes: methods whose source is not found are decompiled (needs procyon-decompiler)")
}

// sources find source code in several places. Each file is read only with the rights that its place deserves, because
// the service, or the author of a recording, chooses the path. Files that do not look like source code by their name
// are not read. JVM code that is not found is decompiled, if jars were named.
type sources struct {
	trees   []*sourceTree
	classes *decompiler
	silent  []*sourceTree // places that did not answer: they are not used again
	refused []string      // files that exist but may not be shown, with the reason
}

// open opens the places: below root, if it is given; the runtime's paths as the process pid sees them, if a process
// is examined; and otherwise on this machine. It must be called while dwell has all its rights.
func (o *sourceOptions) open(pid int, who invoker) (*sources, error) {
	s := &sources{}
	var err error
	if s.trees, err = openTrees(o.root, pid, who); err != nil {
		return nil, err
	}
	s.classes, err = newDecompiler(o.jars, who)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// lines implements report.Source.
func (s *sources) lines(file string, from, to int64) []string {
	file = path.Clean(strings.TrimPrefix(file, "file://"))
	if !sourceName(file) {
		return nil
	}
	for _, tree := range s.trees {
		for _, name := range tree.names(file) {
			if slices.Contains(s.silent, tree) {
				break
			}
			lines, err := elffile.Await(func() ([]string, error) { return tree.lines(name, from, to) })
			if err != nil {
				s.refuse(name, err)
			}
			if errors.Is(err, elffile.ErrStalled) { // an earlier read there is still waiting
				s.silent = append(s.silent, tree)
			}
			if lines != nil {
				return lines
			}
		}
	}
	return s.classes.lines(file, from, to)
}

// refuse records that a file may not be shown. A missing file is not recorded.
func (s *sources) refuse(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	var because *fs.PathError
	if errors.As(err, &because) {
		err = because.Err
	}
	if text := fmt.Sprintf("%s: %v", name, err); !slices.Contains(s.refused, text) {
		s.refused = append(s.refused, text)
	}
}

// maxRefused is how many files that may not be shown are named.
const maxRefused = 3

// say names the files that were left out.
func (s *sources) say(out io.Writer, command string) {
	for _, text := range s.refused[:min(len(s.refused), maxRefused)] {
		fmt.Fprintf(out, "dwell %s: lines of source left out: %s\n", command, recording.Printable(text))
	}
	if more := len(s.refused) - maxRefused; more > 0 {
		fmt.Fprintf(out, "dwell %s: lines of source left out: %d files more\n", command, more)
	}
}

// end names the files that were left out, and closes the places.
func (s *sources) end(w world, command string) {
	s.say(w.err, command)
	s.close()
}

func (s *sources) close() {
	for _, tree := range s.trees {
		tree.close()
	}
	s.classes.end()
}

func sourceName(file string) bool {
	return slices.Contains([]string{
		".go", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".py", ".rb", ".java", ".kt", ".scala", ".groovy", ".clj",
		".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".erb", ".ru",
	}, path.Ext(file))
}

// belowRoot returns the names that a file may have below a directory of source code, the likeliest first. They are
// suffixes of its path, the longest first.
func belowRoot(file string) (list []string) {
	for rest := strings.TrimLeft(file, "/"); ; {
		list = append(list, rest)
		for _, main := range []string{"src/main/java", "src/main/kotlin", "src", "lib"} {
			list = append(list, path.Join(main, rest))
		}
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return list
		}
		rest = after
	}
}

// lines returns lines of a file, or nil if it has no such lines.
func (t *sourceTree) lines(name string, from, to int64) ([]string, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLines(f, from, to), nil
}

// readLines returns lines of a file, or nil if it has no such lines.
func readLines(f *os.File, from, to int64) (lines []string) {
	in := bufio.NewScanner(io.LimitReader(f, maxSource))
	for n := int64(1); n <= to && in.Scan(); n++ {
		if n >= from {
			lines = append(lines, recording.Printable(strings.ReplaceAll(in.Text(), "\t", "    ")))
		}
	}
	return lines
}
