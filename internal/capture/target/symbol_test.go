package target

import (
	"strings"
	"testing"
	"testing/iotest"
)

func TestOffsetOfATextAcrossReads(t *testing.T) {
	const name = "\x00wanted\x00"
	for _, before := range []int{0, 1, symbolsChunk - 3, symbolsChunk, symbolsChunk + len(name), 3 * symbolsChunk} {
		text := strings.Repeat("x", before) + name + "more"
		at, err := offsetOf(iotest.HalfReader(strings.NewReader(text)), name)
		if err != nil || at != int64(before) {
			t.Errorf("behind %d bytes it is found at %d (%v)", before, at, err)
		}
	}
	if at, err := offsetOf(strings.NewReader("unwanted\x00"), name); at != -1 || err != nil {
		t.Errorf("the end of another name is found at %d (%v)", at, err)
	}
}
