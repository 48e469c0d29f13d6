package target

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// TLSLibrary is a file containing a TLS library that a process has mapped.
type TLSLibrary struct {
	File CodeFile
}

// TLSWriters are the functions that receive bytes to be encrypted, as file offsets; 0 if the file has no such
// function.
type TLSWriters struct {
	Write   uint64 // SSL_write(connection, bytes, their number as an int)
	WriteEx uint64 // SSL_write_ex, where the number is a size_t
}

// TLSLibraries lists the files that a process has mapped with OpenSSL, or a library with its interface: libssl of any
// version at any place, and Node, which contains its own.
func TLSLibraries(pid int) ([]TLSLibrary, error) {
	text, err := procfs.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return nil, fmt.Errorf("list the TLS libraries of process %d: %w", pid, procError(err))
	}
	exe, _ := procfs.Readlink(procPath(pid, "exe"))
	var found []TLSLibrary
	seen := map[string]bool{}
	for _, m := range parseMaps(string(text)) {
		if seen[m.name] || !strings.Contains(m.perms, "x") || !mayHoldTLS(m.name, exe) {
			continue
		}
		seen[m.name] = true
		if code, err := mappedFile(pid, m); err == nil { // otherwise it is no longer mapped
			found = append(found, TLSLibrary{code})
		}
	}
	return found, nil
}

// mayHoldTLS reports whether a mapped file should be examined.
func mayHoldTLS(name, exe string) bool {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, "libssl") && strings.Contains(base, ".so"):
		return true // also libssl-1a2b3c.so.3, as Python packages include it
	case nodeLibrary(name):
		return true
	}
	return name == exe && slices.Contains([]string{"node", "nodejs"}, base)
}

// TLSWriters reads the positions of the functions. It fails with ErrUnsupported if there are none.
func (l TLSLibrary) TLSWriters() (TLSWriters, error) {
	f, opened, err := l.File.openELF()
	if err != nil {
		return TLSWriters{}, fmt.Errorf("read a TLS library: %w", err)
	}
	defer opened.Close()
	symbols, err := elffile.DynamicSymbols(f)
	if err != nil {
		return TLSWriters{}, fmt.Errorf("%w: a TLS library exports nothing: %w", ErrUnsupported, err)
	}
	var w TLSWriters
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		switch s.Name {
		case "SSL_write":
			w.Write, _ = fileOffset(f, s.Value)
		case "SSL_write_ex":
			w.WriteEx, _ = fileOffset(f, s.Value)
		}
	}
	if w == (TLSWriters{}) {
		return w, fmt.Errorf("%w: a TLS library does not export SSL_write", ErrUnsupported)
	}
	return w, nil
}
