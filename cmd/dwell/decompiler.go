package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// Limits of a decompiler's time and output.
const (
	decompileWithin = 30 * time.Second // per class
	maxAnswer       = 16 << 20         // bytes of its answer
)

// decompilerPath is the PATH of a program that must not be given the user's own PATH.
const decompilerPath = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"

// decompiler turns classes of the JVM back into source code with the line numbers of the original, each on first use.
// It is another process: of the user who called sudo, or of nobody if dwell runs as root. It opens jars and classes,
// which may belong to the service, and passes them to a program that is not part of dwell. So it has a directory of
// its own and an environment that reveals nothing of dwell's. Nil means that there is none.
type decompiler struct {
	cmd  *exec.Cmd
	ask  io.WriteCloser
	said *bufio.Reader
	dir  string
	as   string // whose process it is, unless that is the user who called dwell
	done map[string][]string
}

// newDecompiler starts a decompiler for the given jars and directories of classes. Without any it returns nil, which
// is not an error.
func newDecompiler(places []string, who invoker) (*decompiler, error) {
	if len(places) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "dwell-classes-")
	if err != nil {
		return nil, fmt.Errorf("--jar: %w", err)
	}
	d := &decompiler{dir: dir, done: map[string][]string{}}
	if err := d.start(places, who); err != nil {
		d.end()
		return nil, fmt.Errorf("--jar: %w", err)
	}
	if problem, err := d.answer(); err != nil || len(problem) > 0 {
		d.end()
		return nil, fmt.Errorf("--jar: %s%s", strings.Join(append(problem, errText(err)...), " "), d.as)
	}
	return d, nil
}

func errText(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

func (d *decompiler) start(places []string, who invoker) (err error) {
	list := make([]string, len(places))
	for i, place := range places {
		if list[i], err = absolute(place); err != nil {
			return err
		}
	}
	cmd := exec.Command(self(), append([]string{"__decompile", "--"}, list...)...)
	cmd.Dir, cmd.Env = d.dir, []string{"PATH=" + decompilerPath, "HOME=" + d.dir, "TMPDIR=" + d.dir, "LC_ALL=C.UTF-8", "CLASSPATH=/nonexistent"}
	if d.as, err = lowerTo(cmd, who); err != nil {
		return err
	}
	if d.ask, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.cmd, d.said = cmd, bufio.NewReader(out)
	return nil
}

// answer reads lines, encoded as one line of JSON.
func (d *decompiler) answer() (lines []string, err error) {
	text, err := bufio.NewReader(io.LimitReader(d.said, maxAnswer)).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return lines, json.Unmarshal(text, &lines)
}

// lines returns lines of a Java source file, given its path below the root of its package. The first line is marked
// as decompiled.
func (d *decompiler) lines(file string, from, to int64) []string {
	class, ok := strings.CutSuffix(file, ".java")
	if d == nil || !ok || !fs.ValidPath(class) || strings.ContainsAny(class, "\n\r") {
		return nil
	}
	text, ok := d.done[class]
	if !ok {
		text = d.decompiled(class) // if it fails, the place is shown without code
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

func (d *decompiler) decompiled(class string) []string {
	if _, err := io.WriteString(d.ask, class+"\n"); err != nil {
		return nil // the process has ended
	}
	text, err := d.answer()
	if err != nil {
		return nil
	}
	for i := range text {
		text[i] = recording.Printable(text[i])
	}
	return text
}

// end ends the process and removes its files.
func (d *decompiler) end() {
	if d == nil {
		return
	}
	if d.cmd != nil {
		d.ask.Close()
		d.cmd.Wait()
	}
	os.RemoveAll(d.dir)
}

// decompileCommand is the process behind a decompiler: it reads names of classes and answers with lines.
func decompileCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "__decompile -- JAR...",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			out := json.NewEncoder(c.OutOrStdout())
			work, err := newClasses(args)
			if err == nil {
				err = limitSelf()
			}
			if err := out.Encode(errText(err)); err != nil || work == nil {
				return err
			}
			for in := bufio.NewScanner(c.InOrStdin()); in.Scan(); {
				text, _ := work.decompile(in.Text())
				if err := out.Encode(text); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
