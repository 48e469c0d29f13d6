package elffile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pipe opens a pipe to which nothing has been written.
func pipe(t *testing.T) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// waiting returns a function that reads a byte of a file, and signals when it begins.
func waiting(file *os.File, begins chan<- bool) func() (int, error) {
	return func() (int, error) {
		begins <- true
		return file.Read(make([]byte, 1))
	}
}

// eventually waits for a condition that should hold soon.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(what)
		}
	}
}

// noneWaits returns when the waits that other tests left have ended.
func noneWaits(t *testing.T) {
	t.Helper()
	eventually(t, "some wait still", func() bool {
		pending.mu.Lock()
		defer pending.mu.Unlock()
		return pending.all == 0
	})
}

func nothing() (int, error) { return 0, nil }

// No more than the maximum number of threads wait; a further wait is refused at once, until one of them returns.
func TestSoManyWait(t *testing.T) {
	noneWaits(t)
	file, begins := pipe(t), make(chan bool)
	defer file.Close()
	for range maxWaiting {
		go Await(waiting(file, begins))
		<-begins
	}
	asked := false
	if _, err := Await(func() (int, error) { asked = true; return 0, nil }); !errors.Is(err, ErrCrowded) || asked {
		t.Errorf("%v, asked: %v; want %v", err, asked, ErrCrowded)
	}
	file.Write(make([]byte, maxWaiting))
	eventually(t, "nothing is asked for again", func() bool { _, err := Await(nothing); return err == nil })
}

// A device that does not answer occupies one thread, and does not block other devices. When it answers, files that
// were open on it are closed, and it is used again.
func TestSilentDevice(t *testing.T) {
	const silent, other = Device(1 << 40), Device(1<<40 + 1)
	file, begins := pipe(t), make(chan bool, 1)
	defer file.Close()
	if _, err := AwaitOn(silent, waiting(file, begins)); !errors.Is(err, ErrStalled) {
		t.Fatalf("%v; want %v", err, ErrStalled)
	}
	asked := false
	if _, err := AwaitOn(silent, func() (int, error) { asked = true; return 0, nil }); !errors.Is(err, ErrStalled) || asked {
		t.Errorf("%v, asked again: %v; want %v", err, asked, ErrStalled)
	}
	if _, err := AwaitOn(other, nothing); err != nil {
		t.Errorf("another device: %v", err)
	}
	if err := UnlessWaiting(func() error { t.Error("what all threads take part in was begun"); return nil }); !errors.Is(err, ErrWaiting) {
		t.Errorf("%v; want %v", err, ErrWaiting)
	}
	open := pipe(t)
	(&Patient{from: open, on: silent}).Close()
	if _, err := open.Stat(); err != nil {
		t.Errorf("a file there was closed, which it may keep waiting: %v", err)
	}
	file.Write([]byte{0})
	eventually(t, "it is not asked again", func() bool { _, err := AwaitOn(silent, nothing); return err == nil })
	if _, err := open.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it was not closed: %v", err)
	}
	noneWaits(t)
	if err := UnlessWaiting(func() error { return nil }); err != nil {
		t.Errorf("nothing waits any more: %v", err)
	}
}
