package recording

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// disordered returns a file of many blocks whose facts are written up to late ns late.
func disordered(t *testing.T, late int64, odd ...Event) []byte {
	t.Helper()
	chance, events := rand.New(rand.NewSource(1)), []Event{{Time: 5, Fact: &Clock{Wall: 7}}}
	for i := range int64(60_000) {
		at := 10 * i
		if chance.Intn(50) == 0 {
			at = max(1, at-chance.Int63n(late))
		}
		events = append(events, Event{Time(at), &Off{Thread: ThreadID(i % 7), Since: Time(at), Woken: Time(at), Syscall: fmt.Sprintf("of\x1b%d", i%5)}})
		if i == 30_000 {
			events = append(events, odd...)
		}
	}
	return encode(t, append(events, Event{600_000, &End{Reason: "time"}}))
}

// Stream passes on the same events as Load returns: for facts in disorder, files cut or damaged anywhere, facts that
// no recording holds, the text form, and input that can be read only once.
func TestStreamHandsOverWhatLoadReads(t *testing.T) {
	sound, late := disordered(t, 5), disordered(t, 400_000)
	broken := bytes.Clone(late)
	broken[len(broken)/2] ^= 1
	for name, file := range map[string][]byte{
		"in order": sound,
		"late":     late,
		"cut":      late[:len(late)*2/3],
		"damaged":  broken,
		"code": disordered(t, 5, Event{5, &Frame{ID: 1, Function: "main"}}, Event{5, &Stack{ID: 1, Frame: 1}},
			Event{5, &Stack{ID: 2, Frame: 1, Caller: 1}}, Event{250_003, &Stack{ID: 3, Frame: 1, Caller: 2}}),
		"no fact": disordered(t, 9, Event{300_000, &Off{Thread: -5}}, Event{1 << 62, &Off{}}),
		"text":    []byte("100 manifest tool=a\n90 clock wall=5\n"),
	} {
		want, err := Load(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want.Printable()
		for i, from := range []io.Reader{bytes.NewReader(file), bytes.NewReader(file), io.MultiReader(bytes.NewReader(file))} {
			var events []Event
			rec, err := Part{Brief: i > 0}.Stream(three(), from, func(e Event) {
				if i > 0 {
					e.Fact = copied(e.Fact)
				}
				events = append(events, e)
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if rec.Events = events; !reflect.DeepEqual(rec, want) {
				t.Errorf("%s: %d events, cut %v, %d bytes dropped, %d left out; want %d, %v, %d, %d", name,
					len(rec.Events), rec.Truncated, rec.Dropped, rec.LeftOut, len(want.Events), want.Truncated, want.Dropped, want.LeftOut)
			}
		}
	}
}

func copied(f Fact) Fact {
	c := reflect.New(reflect.TypeOf(f).Elem())
	c.Elem().Set(reflect.ValueOf(f).Elem())
	return c.Interface().(Fact)
}

// For a file in order, no more than some blocks are in memory at a time, and code in them counts as being at its
// beginning.
func TestStreamHoldsLittle(t *testing.T) {
	chance, events := rand.New(rand.NewSource(1)), make([]Event, 200_000)
	for i := range events {
		events[i] = Event{Time(i + 1), &Off{Arg: chance.Int63()}}
		if i%1000 == 0 {
			events[i] = Event{1, &Frame{ID: FrameID(i + 1), Function: "f"}}
		}
	}
	file := encode(t, events)
	handed, most, in := 0, 0, &countedFile{Reader: bytes.NewReader(file)}
	if _, err := Stream(Workers{}, in, func(Event) {
		handed++
		most = max(most, in.n-len(file)-len(file)*handed/len(events)) // beyond the first reading
	}); err != nil {
		t.Fatal(err)
	}
	if handed != len(events) || most > len(file)*2/3 {
		t.Errorf("%d of %d events; %d of %d bytes were held", handed, len(events), most, len(file))
	}
}

type countedFile struct {
	*bytes.Reader
	n int
}

func (c *countedFile) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

func TestStreamSaysWhatIsWrong(t *testing.T) {
	for _, in := range []string{"", "\x00\x01", magic, magic[:3], magic + "\xff\xff", magic + "\x01\x00"} {
		_, want := Load(strings.NewReader(in))
		_, err := Stream(Workers{}, strings.NewReader(in), func(Event) { t.Errorf("%q: an event", in) })
		if err == nil || err.Error() != want.Error() {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}
