package main

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// decompilerName is Procyon's command in Debian's package procyon-decompiler.
const decompilerName = "procyon"

const (
	maxClass = 4 << 20 // bytes of a class file
	maxInner = 256     // classes within a class
)

// classes are the compiled classes of a service.
type classes struct {
	places []string // jars, and directories of classes; the first one with a class is used
}

// newClasses looks for jars, and directories of classes, in the given files and directories.
func newClasses(places []string) (*classes, error) {
	if _, err := exec.LookPath(decompilerName); err != nil {
		return nil, fmt.Errorf("there is no %s to decompile with (apt install procyon-decompiler)", decompilerName)
	}
	c := &classes{}
	for _, place := range places {
		err := filepath.WalkDir(place, func(name string, e fs.DirEntry, err error) error {
			if err == nil && (name == place || e.Name() == "classes" || strings.HasSuffix(name, ".jar")) {
				c.places = append(c.places, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// absolute returns a path that is valid in any directory.
func absolute(place string) (string, error) { return filepath.Abs(place) }

// decompile unpacks a class and its inner classes into a directory of their own, and runs the decompiler there.
func (c *classes) decompile(class string) ([]string, error) {
	dir, err := os.MkdirTemp("", "class-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := false
	for _, place := range c.places {
		if found, err = unpackFrom(place, class, dir); found {
			break
		}
	}
	wanted := classFile(dir, class)
	if !found || strings.ContainsAny(wanted, " *?[]") { // the launcher would take it for several names
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), decompileWithin)
	defer cancel()
	// Stretched lines have the numbers of the file that was compiled.
	out := filepath.Join(dir, "out")
	cmd := exec.CommandContext(ctx, decompilerName, "--stretch-lines", "-o", out, wanted)
	cmd.Dir = filepath.Join(dir, "empty")                 // the launcher may look for programs in its directory
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // for the launcher and what it launches
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := errors.Join(os.Mkdir(cmd.Dir, 0o700), cmd.Run()); err != nil {
		return nil, fmt.Errorf("decompile %s: %w", class, err)
	}
	text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(class)+".java"))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(text), "\n"), nil
}

// unpackFrom is unpack for a jar or a directory of classes.
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

// unpack writes a class from an archive or directory, with its inner classes, below dir.
func unpack(from fs.FS, class, dir string) (found bool, err error) {
	for _, root := range []string{"", "WEB-INF/classes/", "BOOT-INF/classes/"} { // plain, servlet container, Spring Boot
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
	code, err := io.ReadAll(io.LimitReader(in, maxClass))
	if err != nil {
		return err
	}
	if own, err := className(code); err != nil || own != class {
		return fmt.Errorf("%s says that it is class %q: %w", class, own, cmp.Or(err, errClass))
	}
	return os.WriteFile(name, code, 0o600)
}

func classFile(dir, class string) string {
	return filepath.Join(dir, "classes", filepath.FromSlash(class)+".class")
}
