package recording

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomVisitor fills a fact with values that are difficult for both forms.
type randomVisitor struct{ *rand.Rand }

func (r randomVisitor) Int(_ string, v *int64) {
	choices := []int64{0, 0, 1, -1, 1_234_567, math.MaxInt64, math.MinInt64, r.Int64(), r.Int64N(1000)}
	*v = choices[r.IntN(len(choices))]
}

func (r randomVisitor) Enum(_ string, names []string, v *int64) {
	*v = r.Int64N(int64(len(names)) + 2) // the last two have no name
	if *v > int64(len(names)) {
		*v = -*v
	}
}

func (r randomVisitor) Str(_ string, v *string) {
	choices := []string{"", "a", "GET", "/users/{}", `quo"te \ and # hash`, "two words", "123", "\x00\xff\n\r", "žluť", "a=b", strings.Repeat("x", 3000)}
	*v = choices[r.IntN(len(choices))]
}

// randomRecording has events of every kind, including unknown ones, in order of time.
func randomRecording(seed uint64, events int) *Recording {
	r := rand.New(rand.NewPCG(seed, 1))
	rec := &Recording{Truncated: true}
	specs := Kinds()
	var now Time
	for i := range events {
		now += Time(r.Int64N(3))
		var f Fact = &UnknownFact{Name: "future-" + string(rune('a'+r.IntN(3))), Fields: []Field{{Name: "n"}, {Name: "s", IsStr: true}}[:1+r.IntN(2)]}
		if k := i % (len(specs) + 1); k < len(specs) {
			f = specs[k].New()
		}
		f.Visit(randomVisitor{r})
		if _, ok := f.(*End); ok {
			rec.Truncated = false
		}
		rec.Events = append(rec.Events, Event{now, f})
	}
	return rec
}

func encode(t testing.TB, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// load reads what was written, even if no recording could hold it.
func load(t testing.TB, b []byte) *Recording {
	t.Helper()
	events, dropped, err := read(Workers{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := assemble(events, dropped)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func format(t testing.TB, rec *Recording) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := FormatText(&b, rec); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBothFormsKeepEverything(t *testing.T) {
	for seed := range uint64(40) {
		want := randomRecording(seed, 1+int(seed)*7)
		if diff := cmp.Diff(want, load(t, encode(t, want.Events))); diff != "" {
			t.Fatalf("seed %d, binary form: (-want +got)\n%s", seed, diff)
		}
		if diff := cmp.Diff(want, load(t, format(t, want))); diff != "" {
			t.Fatalf("seed %d, text form: (-want +got)\n%s", seed, diff)
		}
	}
}

func TestLargeRecordingSpansBlocks(t *testing.T) {
	want := randomRecording(7, 20_000)
	b := encode(t, want.Events)
	if blocks := bytes.Count(b, []byte{frameEventsZstd}); blocks < 2 {
		t.Fatalf("%d blocks, want several", blocks)
	}
	if diff := cmp.Diff(want, load(t, b)); diff != "" {
		t.Fatal(diff)
	}
}

func TestEventsAreSortedAndStable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var events []Event
	for i := range 2000 {
		events = append(events, Event{Time(r.Int64N(50)), &Sample{Goroutine: GoroutineID(i)}})
	}
	got := load(t, encode(t, events)).Events
	for i := 1; i < len(got); i++ {
		a, b := got[i-1], got[i]
		if a.Time > b.Time || a.Time == b.Time && a.Fact.(*Sample).Goroutine > b.Fact.(*Sample).Goroutine {
			t.Fatalf("event %d: %v then %v", i, a, b)
		}
	}
}

// A recording cut anywhere yields a prefix of its events, and reports that it is truncated.
func TestTornRecordingGivesItsWholeBlocks(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b)
	var ends []int // length of the file after each flush
	for i := range 5 {
		_ = w.Write(Event{Time(i), &Sample{Thread: ThreadID(i + 1)}})
		_ = w.Flush()
		ends = append(ends, b.Len())
	}
	for cut := range b.Len() {
		whole := 0
		for _, e := range ends {
			if e <= cut {
				whole++
			}
		}
		rec, err := Load(bytes.NewReader(b.Bytes()[:cut]))
		if whole == 0 {
			if !errors.Is(err, ErrEmpty) {
				t.Fatalf("cut at %d: error %v, want ErrEmpty", cut, err)
			}
			continue
		}
		if err != nil || len(rec.Events) != whole || !rec.Truncated {
			t.Fatalf("cut at %d: %v, %+v, want %d events", cut, err, rec, whole)
		}
		if want := int64(cut - ends[whole-1]); rec.Dropped != want {
			t.Fatalf("cut at %d: dropped %d bytes, want %d", cut, rec.Dropped, want)
		}
	}
}

func TestDamagedBlockEndsTheRecording(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b)
	_ = w.Write(Event{1, &Sample{Thread: 1}})
	_ = w.Flush()
	first := b.Len()
	_ = w.Write(Event{2, &Sample{Thread: 2}})
	_ = w.Close()
	damaged := b.Bytes()
	damaged[len(damaged)-1] ^= 1
	rec := load(t, damaged)
	if len(rec.Events) != 1 || rec.Dropped != int64(len(damaged)-first) {
		t.Fatalf("got %d events, %d bytes dropped", len(rec.Events), rec.Dropped)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	whole := encode(t, []Event{{1, &End{Reason: "time"}}})
	newer := bytes.Clone(whole)
	newer[len(magic)] = Version + 1
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", ErrEmpty},
		{"cut magic", magic[:3], ErrEmpty},
		{"only a head", string(encode(t, nil)), ErrEmpty},
		{"only comments", "# dwell recording, text form 1\n\n# nothing\n", ErrEmpty},
		{"an ELF file", "\x7fELF\x02\x01\x01\x00\x00", ErrNotRecording},
		{"JSON", `{"version":1}`, ErrNotRecording},
		{"prose", "Dear Sir or Madam", ErrNotRecording},
		{"newer binary", string(newer), NewerError{Version: Version + 1}},
		{"newer text", "# dwell recording, text form 2\n1 end\n", NewerError{Version: 2}},
	} {
		if _, err := Load(strings.NewReader(c.in)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

func TestWriterRefusesWhatReadersCannotTake(t *testing.T) {
	w, _ := NewWriter(new(bytes.Buffer))
	if err := w.Write(Event{1, &Missing{Why: strings.Repeat("x", maxEvent+1)}}); err == nil {
		t.Error("a string beyond the limit was accepted")
	}
	if err := w.Write(Event{1, &Missing{}}); err == nil {
		t.Error("the writer went on after an error")
	}
}
