// Package proc starts the programs of a live test, waits until they are ready, and
// stops them.
package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopAfter is how long a program may take to end before it is killed.
const stopAfter = 30 * time.Second

// readyWithin is how long it may take to become ready: a host with other work makes it late, not wrong.
const readyWithin = time.Minute

// Options say what to start.
type Options struct {
	Args  []string
	Env   []string // added to ours
	Dir   string
	CPUs  string // as taskset -c takes them; "" all
	Ready string // part of the line, on stdout or stderr, that says it is ready; "" none
	Out   io.Writer
}

// Process is a started program.
type Process struct {
	cmd   *exec.Cmd
	name  string
	stdin io.WriteCloser
	lines chan string
	done  chan struct{}
	err   error // of the program; read after done

	mu   sync.Mutex
	tail []string // last lines, for errors
}

// Start starts a program and waits until it is ready. It ends with ctx.
func Start(ctx context.Context, opt Options) (*Process, error) {
	args := opt.Args
	if opt.CPUs != "" {
		args = append([]string{"taskset", "-c", opt.CPUs}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), opt.Env...)
	cmd.Dir = opt.Dir
	p := &Process{cmd: cmd, name: opt.Args[0], lines: make(chan string, 1024), done: make(chan struct{})}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	read, write := io.Pipe()
	cmd.Stderr = write
	cmd.Stdout = write
	if opt.Out != nil {
		cmd.Stdout = io.MultiWriter(write, opt.Out)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", strings.Join(opt.Args, " "), err)
	}
	go p.scan(read)
	go func() {
		p.err = cmd.Wait()
		write.Close()
		close(p.done)
	}()
	if opt.Ready != "" {
		if _, err := p.Line(opt.Ready, readyWithin); err != nil {
			p.Stop()
			return nil, err
		}
	}
	return p, nil
}

// scan keeps the last lines and offers every line to Line; lines nobody takes are
// dropped, so a chatty program is never held up.
func (p *Process) scan(r io.Reader) {
	defer close(p.lines)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			p.mu.Lock()
			p.tail = append(p.tail[max(0, len(p.tail)-9):], line)
			p.mu.Unlock()
			select {
			case p.lines <- line:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// PID of the program.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Line waits for an output line that contains part.
func (p *Process) Line(part string, within time.Duration) (string, error) {
	limit := time.After(within)
	for {
		select {
		case line, open := <-p.lines:
			if !open {
				<-p.done
				return "", fmt.Errorf("%s ended before it printed %q: %v\n%s", p.name, part, p.err, p.Tail())
			}
			if strings.Contains(line, part) {
				return line, nil
			}
		case <-limit:
			return "", fmt.Errorf("%s did not print %q within %v\n%s", p.name, part, within, p.Tail())
		}
	}
}

// Tail returns the last lines it printed.
func (p *Process) Tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.tail, "\n")
}

// Say writes a line to the program's standard input.
func (p *Process) Say(line string) error {
	_, err := io.WriteString(p.stdin, line+"\n")
	return err
}

// Interrupt sends SIGINT and waits for the program to end; its exit status is the
// error.
func (p *Process) Interrupt(within time.Duration) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("interrupting %s: %w", p.name, err)
	}
	return p.Wait(within)
}

// Wait waits for the program to end by itself.
func (p *Process) Wait(within time.Duration) error {
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("%s: %w\n%s", p.name, p.err, p.Tail())
		}
		return nil
	case <-time.After(within):
		p.Stop()
		return fmt.Errorf("%s did not end within %v", p.name, within)
	}
}

// Status is the exit status that err tells of, -1 if it tells of none.
func Status(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// Stop ends the program: kindly, then not. That it ends by a signal is no error.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopAfter):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}
