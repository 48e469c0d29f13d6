// Command dwell records what a running service does with its time, and says where the time went, why, and what a fix
// would save.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/getdwell/dwell/recording"
)

func main() {
	debug.SetTraceback("crash") // uncatchable failures end with SIGABRT: status 2 means that dwell cannot do what was asked
	os.Exit(status())
}

func status() int {
	return execute(context.Background(), os.Args[1:], world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, startHelper: startHelper, dropRights: dropRights, dropLast: dropLast,
	})
}

// world is what a subcommand may use besides its flags.
type world struct {
	in     io.Reader
	out    io.Writer // results
	err    io.Writer // progress and errors
	getenv func(string) string
	// startHelper starts a process that keeps rights that dropRights gives up. It returns the connection to it.
	startHelper func() (*os.File, error)
	// dropRights permanently gives up the rights that a recorder does not need once it records.
	dropRights func(keeping) error
	// dropLast gives up those that it does not need once all hooks are active.
	dropLast func() error
}

// Exit statuses, as documented in docs/contract.md.
const (
	exitDone      = 0
	exitBroken    = 1 // a promised latency was not kept
	exitCannot    = 2 // usage, rights, input
	exitUndecided = 3 // nothing could be decided about any hypothesis
	exitDefect    = 70
)

// execute runs the command line args and returns its exit status.
func execute(ctx context.Context, args []string, w world) (status int) {
	defer func() {
		if d := defectOf(recover()); d != nil {
			fmt.Fprintf(w.err, "dwell: this is a defect of dwell: %v (please report it, with what follows)\n%s", d.what, d.stack)
			status = exitDefect
		}
	}()
	root := rootCommand(w)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var silent exitError
	if errors.As(err, &silent) {
		return silent.status
	}
	fmt.Fprintln(w.err, oneLine(err))
	return exitCannot
}

// defect is a panic, and where it happened.
type defect struct {
	what  any
	stack []byte
}

// defectOf returns the defect behind a recovered value, nil if there was no panic. Call it where the panic is
// recovered.
func defectOf(recovered any) *defect {
	switch d := recovered.(type) {
	case nil:
		return nil
	case *defect:
		return d
	}
	return &defect{recovered, debug.Stack()}
}

// exitError ends dwell with a status after everything has been printed.
type exitError struct{ status int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// oneLine returns an error as the single line that a user sees.
func oneLine(err error) string {
	text := recording.Printable(strings.Join(strings.Fields(err.Error()), " ")) // it may contain names that the target chose
	if !strings.HasPrefix(text, "dwell") {
		text = "dwell: " + text
	}
	return text
}
