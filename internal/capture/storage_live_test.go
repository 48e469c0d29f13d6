//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// storageScript syncs a file 30 times when told to, then reads it through a mapping after asking the kernel to drop
// it from memory. It repeats that, because if a thread of the virtual machine's host serves the disk, and the host is
// busy, a page may arrive before the reading thread has gone to sleep.
const storageScript = `
import mmap, os, sys, time
path = sys.argv[1] + "/orders.db"
sys.stdin.readline()
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
for i in range(30):
    os.write(fd, b"x" * 131072)
    os.fsync(fd)
m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
m.madvise(mmap.MADV_RANDOM)
for i in range(15):
    m.madvise(mmap.MADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    sum(m[i] for i in range(0, len(m), 65536))
    time.sleep(0.02)
sys.stdin.readline()
`

// diskDir returns a directory on a disk, because reads of a file in memory never wait.
func diskDir(t *testing.T) string {
	t.Helper()
	for _, parent := range []string{os.TempDir(), "."} {
		var fs unix.Statfs_t
		if unix.Statfs(parent, &fs) != nil || fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
			continue
		}
		dir, err := os.MkdirTemp(parent, "disk-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	t.Skip("no directory on a disk")
	return ""
}

// filesOf returns the recording of a program that ends by itself, and the names of its files.
func filesOf(t *testing.T, l *live) (*recording.Recording, map[recording.FileID]string) {
	t.Helper()
	if err := <-l.done; err != nil {
		t.Fatal(err)
	}
	l.done <- nil
	rec, files := l.stop(), map[recording.FileID]string{}
	for _, f := range all[*recording.File](rec) {
		files[f.ID] = f.Name
	}
	return rec, files
}

// A thread's use of a file on a disk is recorded: the name of the file for which it waits, its page faults and the
// bytes from storage, the mapping, and the device.
func TestStorage(t *testing.T) {
	const size = 30 * 131072
	dir := diskDir(t)
	p := start(t, 0, python(t), "-c", storageScript, dir)
	l := record(t, p.Process.Pid, Options{})
	fmt.Fprintln(p.stdin)
	p.stdin.Close()
	rec, files := filesOf(t, l)
	syncs, faulted, fetched, out := 0, 0, int64(0), int64(0)
	for _, off := range all[*recording.Off](rec) {
		fetched += off.Fetched
		out += off.Out
		if files[off.File] != "orders.db" {
			continue
		}
		switch off.Syscall {
		case "fsync":
			if off.Out > 0 || off.State == recording.OffDisk && syncs == 0 {
				syncs++
			}
		case "":
			faulted++
		}
	}
	// A sync that does not sleep, or a write that does, reduces the number.
	if syncs < 20 || syncs > 30 {
		t.Errorf("%d sleeps in fsync after a write, of 30 calls", syncs)
	}
	if out < size*9/10 || out > size*11/10 {
		t.Errorf("%d bytes written, want about %d", out, size)
	}
	expectWholeSyncs(t, rec, files, dir)
	// The mapping is read at 60 places, 15 times; each read may bring neighbouring pages into memory.
	if faulted < 5 || fetched < size/20 {
		t.Errorf("%d sleeps in page faults of orders.db, %d bytes from storage: want the file to be read", faulted, fetched)
	}
	mapped := slices.ContainsFunc(all[*recording.Mapping](rec), func(m *recording.Mapping) bool {
		return m.Bytes == size && files[m.File] == "orders.db" && m.Syscall == "mmap"
	})
	if !mapped {
		t.Errorf("no mapping of %d bytes of orders.db in %+v", size, all[*recording.Mapping](rec))
	}
	var blocks int64
	for _, b := range all[*recording.BlockIO](rec) {
		blocks += b.Count
	}
	if blocks < 30 {
		t.Errorf("block devices completed %d requests, want more than 30", blocks)
	}
	if list := all[*recording.Memory](rec); len(list) == 0 || list[0].Resident < 1<<20 {
		t.Errorf("memory of the process: %d samples", len(list))
	}
}

// expectWholeSyncs expects the 30 syncs of orders.db from beginning to end, if this kernel reports them.
func expectWholeSyncs(t *testing.T, rec *recording.Recording, files map[recording.FileID]string, dir string) {
	t.Helper()
	var fs unix.Statfs_t
	ext4 := unix.Statfs(dir, &fs) == nil && fs.Type == unix.EXT4_SUPER_MAGIC
	notAll := slices.ContainsFunc(all[*recording.Missing](rec), func(m *recording.Missing) bool { return m.What == "syncs" })
	if !slices.Contains(strings.Fields(all[*recording.Manifest](rec)[0].Hooks), recording.HookSyncs) || notAll && !ext4 {
		t.Log("this kernel does not tell of syncs here")
		return
	}
	whole := 0
	for _, y := range all[*recording.Sync](rec) {
		if files[y.File] == "orders.db" && y.Syscall == "fsync" {
			whole++
		}
	}
	if whole < 20 || whole > 30 { // one that takes no time is not recorded
		t.Errorf("%d syncs of orders.db, of 30 calls", whole)
	}
}

// What joins a recording must not be loaded already: if something is loaded twice, it reports everything twice, and
// sums that are read again go backwards.
func TestNothingIsLoadedTwiceWhereOthersJoin(t *testing.T) {
	p := start(t, 0, python(t), "-c", "input()")
	joined := make(chan struct{})
	l := record(t, p.Process.Pid, Options{Soon: true, Joined: func() { close(joined) }})
	<-joined
	p.stdin.Close()
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	l.stop()
	times := map[string]int{}
	for _, g := range l.session.order {
		times[g.name]++
	}
	for name, n := range times {
		if n > 1 {
			t.Errorf("%s is loaded %d times", name, n)
		}
	}
	if times["block-devices"] == 0 {
		t.Error("block devices are not watched")
	}
}
