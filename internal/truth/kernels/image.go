package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// programs go into the machine; guest is its first process.
func programs() map[string]string {
	return map[string]string{
		"init": "./internal/truth/kernels/guest", "bin/dwell": "./cmd/dwell",
		"bin/service": "./internal/truth/cmd/service", "bin/upstream": "./internal/truth/cmd/upstream",
	}
}

// initramfs returns what machines with a processor boot into, made once, of the tree that this
// is run in.
func (a *archive) initramfs(ctx context.Context, arch string) (string, error) {
	if name := a.images[arch]; name != "" {
		return name, nil
	}
	name := filepath.Join(a.dir, "initramfs-"+arch)
	if err := a.pack(ctx, name, arch); err != nil {
		return "", err
	}
	a.images[arch] = name
	return name, nil
}

// pack builds the programs for a processor and packs them up.
func (a *archive) pack(ctx context.Context, name, arch string) error {
	dir, err := os.MkdirTemp(a.dir, "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := &cpio{out: out}
	for _, d := range []string{"bin", "dev", "proc", "sys", "tmp"} {
		w.add(d, modeDir|0o755, nil)
	}
	for file, from := range programs() {
		built := filepath.Join(dir, filepath.Base(file))
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", built, from) // as dist is: built once
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s for %s: %w\n%s", from, arch, err, text)
		}
		content, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		w.add(file, modeFile|0o755, content)
	}
	w.add("TRAILER!!!", 0, nil)
	return w.err
}

// cpio writes the archive from which a kernel unpacks its first file system (the format "newc").
type cpio struct {
	out   io.Writer
	files int
	err   error
}

const (
	modeDir  = 0o040000
	modeFile = 0o100000
)

func (c *cpio) add(name string, mode int, content []byte) {
	c.files++
	const none = 0
	header := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		c.files, mode, none, none, 1, none, len(content), none, none, none, none, len(name)+1, none, name)
	c.write([]byte(header))
	c.write(content)
}

// write pads to four bytes.
func (c *cpio) write(b []byte) {
	if c.err == nil {
		_, c.err = c.out.Write(append(b, make([]byte, -len(b)&3)...))
	}
}
