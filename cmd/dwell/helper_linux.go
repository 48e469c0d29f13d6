//go:build amd64 || arm64

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// helperFD is the descriptor on which a helper receives requests.
const helperFD = 3

// giveUpAll leaves this process only its open files.
func giveUpAll() error { return capture.GiveUpAll() }

// startHelper starts a process that examines processes for this one and ends with it. It returns our end of the
// connection.
func startHelper() (*os.File, error) {
	ours, its, err := procfs.Pair()
	if err != nil {
		return nil, err
	}
	defer its.Close()
	cmd := exec.Command(self(), "__helper")
	cmd.ExtraFiles, cmd.Dir, cmd.Env = []*os.File{its}, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel ends the helper when the thread that started it ends
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // a client sees on the connection that it has ended
		}
	}()
	if err := <-started; err != nil {
		ours.Close()
		return nil, err
	}
	return ours, nil
}

// helperCommand is the helper process.
func helperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "__helper",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(endings()...)                         // it ends when its client is gone
			os.WriteFile("/proc/self/comm", []byte("dwell"), 0) // instead of "exe"; if that fails, it does no harm
			return capture.Help(os.NewFile(helperFD, "recorder"))
		},
	}
}
