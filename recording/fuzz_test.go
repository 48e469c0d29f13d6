package recording

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad feeds arbitrary input to both readers. What they accept has to survive both forms.
func FuzzLoad(f *testing.F) {
	small := randomRecording(1, 60)
	f.Add(encode(f, small.Events))
	f.Add(format(f, small))
	f.Add([]byte(sound))
	f.Add([]byte("1.5ms future a=1 b=\"\\x00\"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := Load(bytes.NewReader(b))
		if err != nil {
			return
		}
		Validate(rec)
		rec.Dropped, rec.LeftOut = 0, 0 // not part of what is written
		var text bytes.Buffer
		if FormatText(&text, rec) != nil {
			return // names of kinds that the text form cannot express
		}
		if diff := cmp.Diff(rec, load(t, text.Bytes())); diff != "" {
			t.Errorf("text form: %s", diff)
		}
		if diff := cmp.Diff(rec, load(t, encode(t, rec.Events))); diff != "" {
			t.Errorf("binary form: %s", diff)
		}
	})
}

// FuzzBlock tests the decoder below the checksums.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("\x01\x05hello\x16\x02\x01\x02"), []byte("\x01\x03off\x01\x06thread\x00"))
	f.Fuzz(func(t *testing.T, events, schema []byte) {
		d := newDecoder(nil)
		if err := d.schema(&cursor{b: schemaOfKinds()}); err != nil {
			t.Fatal(err)
		}
		_ = d.schema(&cursor{b: schema})
		list, err := d.block(events)
		if err != nil && len(list) > 0 {
			t.Fatal("events of a malformed block were kept")
		}
		for _, e := range list {
			if e.Fact == nil {
				t.Fatal("an event without fact")
			}
		}
	})
}

func schemaOfKinds() []byte {
	var b []byte
	for _, k := range Kinds() {
		b = appendShape(b, int(k.Kind), shapeOf(k.Name, k.New()))
	}
	return b
}
