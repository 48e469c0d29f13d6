package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// decompilerName is Procyon's command, as Debian's package procyon-decompiler has it.
const decompilerName = "procyon"

const (
	decompileWithin = 30 * time.Second
	maxClass        = 4 << 20 // bytes of a class file
	maxInner        = 256     // classes within a class
)

// decompiler turns classes of the JVM back into source code whose lines are numbered as
// the original's, each when it is first asked for.
type decompiler struct {
	places []string // jars, and directories of classes; of a class that is in several, the first counts
	done   map[string][]string
}

// newDecompiler looks for the jars below the given files and directories, and directories
// of classes. Without any there is no decompiler, which is no error.
func newDecompiler(places []string) (*decompiler, error) {
	if len(places) == 0 {
		return nil, nil
	}
	if _, err := exec.LookPath(decompilerName); err != nil {
		return nil, fmt.Errorf("--jar: there is no %s to decompile with (apt install procyon-decompiler)", decompilerName)
	}
	d := &decompiler{done: map[string][]string{}}
	for _, place := range places {
		err := filepath.WalkDir(place, func(name string, e fs.DirEntry, err error) error {
			if err == nil && (name == place || e.Name() == "classes" || strings.HasSuffix(name, ".jar")) {
				d.places = append(d.places, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("--jar: %w", err)
		}
	}
	return d, nil
}

// jarsOf returns the jars that a process has open, as a JVM has those of its classes.
// Only regular files: to open a pipe that is named like one would not end.
func jarsOf(pid int) (list []string) {
	if _, err := exec.LookPath(decompilerName); err != nil {
		return nil
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if to, err := os.Readlink(name); err != nil || !strings.HasSuffix(to, ".jar") {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			list = append(list, name)
		}
	}
	return list
}

// lines returns lines of a Java source file by its path below the root of its package.
// The first says that nobody wrote them so.
func (d *decompiler) lines(file string, from, to int64) []string {
	class, ok := strings.CutSuffix(file, ".java")
	if d == nil || !ok || !fs.ValidPath(class) {
		return nil
	}
	text, ok := d.done[class]
	if !ok {
		text, _ = d.decompile(class) // without it the place is shown, and no code
		d.done[class] = text
	}
	to = min(to, int64(len(text)))
	if from < 1 || from > to {
		return nil
	}
	out := append([]string(nil), text[from-1:to]...)
	out[0] += "  // decompiled"
	return out
}

// decompile unpacks a class and those within it into a directory of their own, and has
// the decompiler read them there.
func (d *decompiler) decompile(class string) ([]string, error) {
	dir, err := os.MkdirTemp("", "dwell-classes-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := false
	for _, place := range d.places {
		if found, err = unpackFrom(place, class, dir); found {
			break
		}
	}
	if !found {
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), decompileWithin)
	defer cancel()
	// Stretched lines are numbered as in the file that was compiled.
	out := filepath.Join(dir, "out")
	if err := exec.CommandContext(ctx, decompilerName, "--stretch-lines", "-o", out, classFile(dir, class)).Run(); err != nil {
		return nil, fmt.Errorf("decompile %s: %w", class, err)
	}
	text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(class)+".java"))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(text), "\n"), nil
}

// unpackFrom is unpack of a jar or a directory of classes.
func unpackFrom(place, class, dir string) (bool, error) {
	if !strings.HasSuffix(place, ".jar") && !strings.HasSuffix(place, ".war") {
		if info, err := os.Stat(place); err == nil && info.IsDir() {
			return unpack(os.DirFS(place), class, dir)
		}
	}
	z, err := zip.OpenReader(place)
	if err != nil {
		return false, err
	}
	defer z.Close()
	return unpack(z, class, dir)
}

// unpack writes a class of an archive or directory, and the classes within it, below dir.
func unpack(from fs.FS, class, dir string) (found bool, err error) {
	for _, root := range []string{"", "WEB-INF/classes/", "BOOT-INF/classes/"} { // plain, of a servlet container, of Spring Boot
		if err = unpackTo(dir, class, from, root); err == nil {
			inner, _ := fs.Glob(from, root+class+"$*.class")
			for _, name := range inner[:min(len(inner), maxInner)] {
				name = strings.TrimSuffix(strings.TrimPrefix(name, root), ".class")
				err = errors.Join(err, unpackTo(dir, name, from, root))
			}
			return true, err
		}
	}
	return false, err
}

func unpackTo(dir, class string, from fs.FS, root string) error {
	in, err := from.Open(root + class + ".class")
	if err != nil {
		return err
	}
	defer in.Close()
	name := classFile(dir, class)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxClass))
	return errors.Join(err, out.Close())
}

func classFile(dir, class string) string {
	return filepath.Join(dir, filepath.FromSlash(class)+".class")
}
