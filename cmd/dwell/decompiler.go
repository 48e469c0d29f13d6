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

// What a decompiler may take, and say.
const (
	decompileWithin = 30 * time.Second // a class
	maxAnswer       = 16 << 20         // bytes of its answer
)

// decompilerPath is where programs are looked for by what is not trusted with the user's own PATH.
const decompilerPath = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"

// decompiler turns classes of the JVM back into source code whose lines are numbered as the original's, each
// when it is first asked for. It is another process, that of the user who called sudo, or nobody's where dwell
// runs as root: it opens jars and classes, which may be the service's, and hands them to a program that is not
// dwell's, in a directory of its own and with an environment that says nothing of this one. Nil: there is none.
type decompiler struct {
	cmd  *exec.Cmd
	ask  io.WriteCloser
	said *bufio.Reader
	dir  string
	as   string // whose process it is, where that is not who called dwell
	done map[string][]string
}

// newDecompiler starts a decompiler of the given jars and directories of classes. Without any there is none,
// which is no error.
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

// answer reads lines, as one line of JSON.
func (d *decompiler) answer() (lines []string, err error) {
	text, err := bufio.NewReader(io.LimitReader(d.said, maxAnswer)).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return lines, json.Unmarshal(text, &lines)
}

// lines returns lines of a Java source file by its path below the root of its package.
// The first says that nobody wrote them so.
func (d *decompiler) lines(file string, from, to int64) []string {
	class, ok := strings.CutSuffix(file, ".java")
	if d == nil || !ok || !fs.ValidPath(class) || strings.ContainsAny(class, "\n\r") {
		return nil
	}
	text, ok := d.done[class]
	if !ok {
		text = d.decompiled(class) // without it the place is shown, and no code
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
		return nil // it has ended
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

// end ends the process, and removes what it left.
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

// decompileCommand is the process behind a decompiler: it reads names of classes, and answers with lines.
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
