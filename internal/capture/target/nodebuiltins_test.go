package target

import (
	"encoding/binary"
	"testing"
)

// V8's own tables lead to the same code as the symbols that distributions strip.
func TestBuiltinsAreWhereSymbolsSay(t *testing.T) {
	pid, _ := startNode(t, "testdata/ids.js", "0")
	image, err := new(Files).loadedImage(pid, nodeKind())
	if err != nil {
		t.Fatal(err)
	}
	file, opened, err := image.file.openELF()
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if image.values["_ZN2v88internal23DefaultEmbeddedBlobCodeEv"] == 0 {
		t.Skip("this Node does not export where its builtins are; one that does not is not stripped either")
	}
	for _, name := range []string{"PromiseCapabilityDefaultResolve", "ArrayPrototypePush", "RegExpPrototypeTest"} {
		want, err := localSymbol(file, "Builtins_"+name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := builtins{image, file, opened}.address(name)
		if _, code := image.fileOffset(got); err != nil || !code || want != 0 && got != want {
			t.Errorf("%s: found at %#x, the symbol is at %#x: %v", name, got, want, err)
		}
	}
	if at, err := (builtins{image, file, opened}).address("NoSuchBuiltin"); err == nil {
		t.Errorf("what there is not is found at %#x", at)
	}
}

func TestPlacesOfBuiltins(t *testing.T) {
	for what, test := range map[string]struct {
		words  []uint32 // of the entries, one after another
		length int      // bytes of an entry
		want   uint64   // offset of the third builtin's code; 0: not known
	}{
		"offset and length":        {[]uint32{0, 40, 64, 60, 128, 10}, 8, 128},
		"not in order":             {[]uint32{0, 40, 0, 128, 10, 0, 64, 60, 0}, 12, 64},
		"with words between":       {[]uint32{0, 40, 7, 7, 64, 60, 7, 7, 128, 10, 7, 7}, 16, 128},
		"code that overlaps":       {[]uint32{0, 70, 64, 60, 128, 10}, 8, 0},
		"code that begins nowhere": {[]uint32{8, 40, 64, 60, 128, 10}, 8, 0},
	} {
		t.Run(what, func(t *testing.T) {
			table := make([]byte, 3*builtinPlaces)
			for i, w := range test.words {
				binary.LittleEndian.PutUint32(table[4*i:], w)
			}
			if got, ok := placeOf(table, 2, 3); got != test.want || ok != (test.want != 0) {
				t.Errorf("%d, %v; want %d", got, ok, test.want)
			}
		})
	}
}
