// Goids prints, as one line, a thread id, the id of the goroutine on it and the id of the goroutine that started that
// one. Then the thread blocks in a system call forever.
package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

func main() {
	go func() {
		runtime.LockOSThread()
		stack := make([]byte, 4096)
		stack = stack[:runtime.Stack(stack, false)]
		goid := regexp.MustCompile(`^goroutine (\d+)`).FindSubmatch(stack)[1]
		parent := []byte("0") // before Go 1.21 a stack does not contain it
		if m := regexp.MustCompile(`in goroutine (\d+)`).FindSubmatch(stack); m != nil {
			parent = m[1]
		}
		touch()
		fmt.Fprintf(os.Stdout, "%d %s %s\n", syscall.Gettid(), goid, parent)
		syscall.Syscall(syscall.SYS_PAUSE, 0, 0, 0)
	}()
	time.Sleep(time.Hour)
}
