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

// sourceOptions say where source code may be.
type sourceOptions struct {
	root string
	jars []string
}

func (o *sourceOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.root, "source-root", "", "directory of the service's source code, where the paths that its runtime tells do not lead to it")
	c.Flags().StringArrayVar(&o.jars, "jar", nil, "a jar of the service, or a directory of jars and classes: methods whose source is not found are decompiled (needs procyon-decompiler)")
}

// sources find source code in the places where it may be, each file with no more rights than its place is
// worth: its path is the service's word, or that of whoever made a recording. What is not plainly source code
// by its name is left alone. Code of a JVM that is not found is decompiled, if jars were named.
type sources struct {
	trees   []*sourceTree
	classes *decompiler
	silent  []*sourceTree // places that did not answer: they are not asked again
	refused []string      // files that are there and may not be shown, and why
}

// open finds the places: below the root, if one is named; where the runtime says, as the process pid sees it,
// if one is looked at, and on this machine otherwise. It is called while dwell has all its rights.
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
			if errors.Is(err, elffile.ErrStalled) { // what reads there is still waiting
				s.silent = append(s.silent, tree)
			}
			if lines != nil {
				return lines
			}
		}
	}
	return s.classes.lines(file, from, to)
}

// refuse notes that a file may not be shown; that one is not there says nothing.
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

// maxRefused is how many files are named that may not be shown.
const maxRefused = 3

// say names what was left out.
func (s *sources) say(out io.Writer, command string) {
	for _, text := range s.refused[:min(len(s.refused), maxRefused)] {
		fmt.Fprintf(out, "dwell %s: lines of source left out: %s\n", command, recording.Printable(text))
	}
	if more := len(s.refused) - maxRefused; more > 0 {
		fmt.Fprintf(out, "dwell %s: lines of source left out: %d files more\n", command, more)
	}
}

// end says what was left out, and closes the places.
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

// belowRoot are the names that a file may have below a directory of source code, the likeliest first: each of
// its path's last parts, the longest first.
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

// lines returns lines of a file, nil if it has no such lines.
func (t *sourceTree) lines(name string, from, to int64) ([]string, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLines(f, from, to), nil
}

// readLines returns lines of a file, nil if it has no such lines.
func readLines(f *os.File, from, to int64) (lines []string) {
	in := bufio.NewScanner(io.LimitReader(f, maxSource))
	for n := int64(1); n <= to && in.Scan(); n++ {
		if n >= from {
			lines = append(lines, recording.Printable(strings.ReplaceAll(in.Text(), "\t", "    ")))
		}
	}
	return lines
}
