package target

import (
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Words are found on both sides of a block's edge, but not if they are unaligned. Pages that were never touched are
// neither read nor brought into memory.
func TestSearch(t *testing.T) {
	const size, value = 4 * blockSize, 0x1122334455667788
	region, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(region)
	// Huge pages would bring neighbouring pages into memory.
	if err := unix.Madvise(region, unix.MADV_NOHUGEPAGE); err != nil {
		t.Logf("huge pages cannot be switched off: %v", err)
	}
	base := uint64(uintptr(unsafe.Pointer(&region[0])))
	put := func(at int) { *(*uint64)(unsafe.Pointer(&region[at])) = value }
	aligned := []int{8, blockSize - 8, blockSize, 3*blockSize + 4096}
	for _, at := range aligned {
		put(at)
	}
	put(2*blockSize + 4)

	mem, err := openMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer mem.close()
	var found []int
	never := func() bool { return false }
	scanned := mem.search(extent{base, base + size}, value, func(at uint64) { found = append(found, int(at-base)) }, never)
	if !slices.Equal(found, aligned) {
		t.Errorf("found at %d, want %d", found, aligned)
	}
	if touched := int64(5 * pageSize); scanned != touched {
		t.Errorf("read %d bytes, %d were in memory", scanned, touched)
	}
	if again := mem.search(extent{base, base + size}, value, func(uint64) {}, never); again != scanned {
		t.Errorf("the first search left %d bytes in memory, of %d", again, scanned)
	}
	if n := mem.search(extent{base, base + size}, value, func(uint64) {}, func() bool { return true }); n != 0 {
		t.Errorf("read %d bytes after it was stopped", n)
	}
}

func TestParseMaps(t *testing.T) {
	text := "5500-5600 rw-p 00001000 00:00 0                          [heap]\n" +
		"7f00-7f10 r-xp 00000000 08:01 42    /srv/my app/node (deleted)\nnot a line\n"
	want := []mapping{
		{0x5500, 0x5600, 0x1000, "rw-p", "[heap]"},
		{0x7f00, 0x7f10, 0, "r-xp", "/srv/my app/node (deleted)"},
	}
	if got := parseMaps(text); !slices.Equal(got, want) || !got[0].private() || got[1].private() {
		t.Errorf("got %+v", got)
	}
}
