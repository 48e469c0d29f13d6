package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	symbolBytes  = 24 // of a symbol in ELF64
	symbolValue  = 8  // offset of its address
	symbolsChunk = 64 << 10
)

// localSymbol returns the address of a symbol that a file does not export; 0 if the file lacks it, because it is
// stripped, for example. Runtimes have hundreds of thousands of symbols, so the table is scanned in pieces and not
// kept.
func localSymbol(f *elf.File, name string) (uint64, error) {
	symbols := f.SectionByType(elf.SHT_SYMTAB)
	if symbols == nil || int(symbols.Link) >= len(f.Sections) {
		return 0, nil
	}
	at, err := offsetOf(f.Sections[symbols.Link].Open(), "\x00"+name+"\x00")
	if err != nil || at < 0 {
		return 0, err
	}
	from, chunk := symbols.Open(), make([]byte, symbolsChunk/symbolBytes*symbolBytes)
	for {
		n, err := io.ReadFull(from, chunk)
		for s := chunk[:n/symbolBytes*symbolBytes]; len(s) > 0; s = s[symbolBytes:] {
			if int64(binary.LittleEndian.Uint32(s)) == at+1 {
				return binary.LittleEndian.Uint64(s[symbolValue:]), nil
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read symbols: %w", err)
		}
	}
}

// offsetOf returns where a text begins in a stream; -1 if it does not occur.
func offsetOf(from io.Reader, text string) (int64, error) {
	window, begins := make([]byte, 0, symbolsChunk+len(text)), int64(0)
	for {
		n, err := io.ReadFull(from, window[len(window):cap(window)])
		window = window[:len(window)+n]
		if i := bytes.Index(window, []byte(text)); i >= 0 {
			return begins + int64(i), nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return -1, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read names of symbols: %w", err)
		}
		kept := len(text) - 1 // the text may begin at the end of what was read
		begins += int64(len(window) - kept)
		window = window[:copy(window, window[len(window)-kept:])]
	}
}
