package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/report"
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

// find returns what finds source code: below the root, if one is named, where the
// runtime says, and where that is as the process pid sees it, if it runs. What is not
// plainly source code by its name is left alone: the path is the service's word. Code of
// a JVM that is not found is decompiled.
func (o *sourceOptions) find(pid int) (report.Source, error) {
	if info, err := os.Stat(o.root); o.root != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("--source-root %s: no such directory", o.root)
	}
	jars := o.jars
	if pid > 0 && len(jars) == 0 {
		jars = jarsOf(pid)
	}
	classes, err := newDecompiler(jars)
	if err != nil {
		return nil, err
	}
	return func(file string, from, to int64) []string {
		file = path.Clean(strings.TrimPrefix(file, "file://"))
		if !sourceName(file) {
			return nil
		}
		for _, name := range sourcePlaces(file, o.root, pid) {
			if lines := readLines(name, from, to); lines != nil {
				return lines
			}
		}
		return classes.lines(file, from, to)
	}, nil
}

func sourceName(file string) bool {
	return slices.Contains([]string{
		".go", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".py", ".rb", ".java", ".kt", ".scala", ".groovy", ".clj",
		".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".erb", ".ru",
	}, path.Ext(file))
}

// sourcePlaces are the places to look for a file, the likeliest first: below root, each
// of the path's last parts, the longest first; then the path itself.
func sourcePlaces(file, root string, pid int) (list []string) {
	if root != "" {
		for rest := strings.TrimPrefix(file, "/"); ; {
			list = append(list, filepath.Join(root, rest))
			for _, main := range []string{"src/main/java", "src/main/kotlin", "src", "lib"} {
				list = append(list, filepath.Join(root, main, rest))
			}
			_, after, more := strings.Cut(rest, "/")
			if !more {
				break
			}
			rest = after
		}
	}
	if !path.IsAbs(file) {
		return list // where it is relative to is not known
	}
	if pid > 0 {
		list = append(list, filepath.Join("/proc", strconv.Itoa(pid), "root", file))
	}
	return append(list, file)
}

// readLines returns lines of a plain file, nil if it has no such lines.
func readLines(name string, from, to int64) (lines []string) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, maxSource))
	for n := int64(1); n <= to && in.Scan(); n++ {
		if n >= from {
			lines = append(lines, in.Text())
		}
	}
	return lines
}
