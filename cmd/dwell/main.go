// Command dwell records what a running service does with its time, and says where
// the time went, why, and what a fix would save.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(status()) }

func status() int {
	return execute(context.Background(), os.Args[1:], world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, dropRights: dropRights,
	})
}

// world is what a subcommand may touch beyond its flags.
type world struct {
	in     io.Reader
	out    io.Writer // results
	err    io.Writer // progress and complaints
	getenv func(string) string
	// dropRights gives up, for good, what a running recorder does not need.
	dropRights func() error
}

// Exit statuses, as documented in docs/contract.md.
const (
	exitDone      = 0
	exitCannot    = 2 // usage, rights, input
	exitUndecided = 3 // no hypothesis could be supported or refuted
)

// execute runs the command line args and returns its exit status.
func execute(ctx context.Context, args []string, w world) int {
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

// exitError ends dwell with a status when everything has been said.
type exitError struct{ status int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// oneLine is an error as the one line that a user gets.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if !strings.HasPrefix(text, "dwell") {
		text = "dwell: " + text
	}
	return text
}
