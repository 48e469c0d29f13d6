package timeline

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Build must hold its invariants on any facts in any order: lost ones, contradictory
// ones, times that go backwards within a fact.
func FuzzBuild(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint16(20+seed*3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		rec := soup(rand.New(rand.NewPCG(seed, 7)), int(n%2000)+1)
		tl, err := Build(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range Validate(tl) {
			t.Error(err)
		}
		again, _ := Build(rec)
		if !reflect.DeepEqual(tl, again) {
			t.Error("built twice, the timelines differ")
		}
	})
}

// soup makes n random facts about a few processes, threads and connections.
func soup(r *rand.Rand, n int) *recording.Recording {
	rec := &recording.Recording{}
	at := recording.Time(1000)
	kinds := recording.Kinds()
	fill := &filler{r: r}
	for range n {
		at += recording.Time(r.IntN(50))
		fill.now = at
		fact := kinds[1+r.IntN(len(kinds)-1)].New()
		if r.IntN(3) == 0 { // more of what matters
			fact = []func() recording.Fact{
				func() recording.Fact { return new(recording.Chunk) },
				func() recording.Fact { return new(recording.HTTPRequest) },
				func() recording.Fact { return new(recording.HTTPResponse) },
				func() recording.Fact { return new(recording.Off) },
				func() recording.Fact { return new(recording.TLS) },
			}[r.IntN(5)]()
		}
		fact.Visit(fill)
		rec.Events = append(rec.Events, recording.Event{Time: at, Fact: fact})
	}
	return rec
}

// filler fills the fields of a fact with small random values, so that they meet.
type filler struct {
	r   *rand.Rand
	now recording.Time
}

func (f *filler) Int(name string, v *int64) {
	switch name {
	case "since", "woken", "arrived", "last", "first", "from":
		*v = max(0, int64(f.now)-int64(f.r.IntN(400))+20)
		if f.r.IntN(4) == 0 {
			*v = 0
		}
	case "offset", "bytes", "head":
		*v = int64(f.r.IntN(100))
	case "length":
		*v = int64(f.r.IntN(100)) - 2
	case "status":
		*v = []int64{100, 101, 200, 204, 304, 500}[f.r.IntN(6)]
	case "exec", "trigger", "counter":
		*v = int64(f.r.IntN(int(f.now)/10 + 1))
	default:
		*v = int64(f.r.IntN(5))
	}
}

func (f *filler) Enum(_ string, names []string, v *int64) { *v = int64(f.r.IntN(len(names))) }

func (f *filler) Str(name string, v *string) {
	switch name {
	case "syscall":
		*v = []string{"", "futex", "epoll_wait", "read", "nanosleep", "poll"}[f.r.IntN(6)]
	case "peer", "local", "addrs":
		*v = []string{"127.0.0.1:80", "127.0.0.1", "10.0.0.1:443"}[f.r.IntN(3)]
	default:
		*v = []string{"", "a", "b.a"}[f.r.IntN(3)]
	}
}
