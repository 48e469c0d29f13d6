// Command gostacks has goroutines that compute and wait in known places.
package main

import (
	"os"
	"syscall"
	"time"
)

func burn() {
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
	}
}

// readPipe blocks its thread, because the descriptor is not one of the poller's.
func readPipe() {
	buf := make([]byte, 1)
	if n, _ := syscall.Read(0, buf); n == 0 {
		os.Exit(0)
	}
}

func main() {
	go func() {
		for {
			burn()
			time.Sleep(20 * time.Millisecond)
		}
	}()
	for {
		readPipe()
	}
}
