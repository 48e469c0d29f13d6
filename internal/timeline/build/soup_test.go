package build

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
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
		tl, err := Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range timeline.Validate(tl) {
			t.Error(err)
		}
		again, _ := Recording(rec)
		if !reflect.DeepEqual(tl, again) {
			t.Error("built twice, the timelines differ")
		}
	})
}

// soup makes n facts about a few processes, threads and connections: most of them
// plausible, in random order, the rest random.
func soup(r *rand.Rand, n int) *recording.Recording {
	k := &cook{r: r, rec: &recording.Recording{}, now: 1000, pos: map[recording.ConnID]*[2]int64{}, calm: 20 + r.IntN(80)}
	k.add(&recording.Manifest{CPUs: 2})
	for p := recording.ProcessID(1); p <= 4; p++ {
		k.add(&recording.Process{ID: p, PID: int64(p), Runtime: []recording.Runtime{0, recording.RuntimeNode, recording.RuntimeGo, recording.RuntimePython, recording.RuntimeJVM}[p]})
		for t := int64(1); t <= 4; t++ {
			k.add(&recording.Thread{ID: recording.ThreadID(int64(p)*10 + t), Process: p, TID: int64(p) + t - 1})
		}
	}
	for range n {
		k.step()
	}
	return k.rec
}

// cook makes plausible facts.
type cook struct {
	r     *rand.Rand
	rec   *recording.Recording
	now   recording.Time
	conns []*recording.Conn
	pos   map[recording.ConnID]*[2]int64 // bytes that went each way
	calm  int                            // how many of a hundred facts are plausible
	ids   int64                          // async ids given out
}

func (k *cook) add(f recording.Fact) {
	k.rec.Events = append(k.rec.Events, recording.Event{Time: k.now, Fact: f})
}

func (k *cook) step() {
	k.now += recording.Time(k.r.IntN(50))
	if k.r.IntN(100) >= k.calm {
		fact := recording.Kinds()[k.r.IntN(len(recording.Kinds()))].New()
		fact.Visit(&filler{r: k.r, now: k.now})
		k.add(fact)
		return
	}
	k.ids += int64(k.r.IntN(4))
	switch p := recording.ProcessID(1 + k.r.IntN(4)); k.r.IntN(12) {
	case 0:
		k.conn(p)
	case 1, 2:
		k.off(p)
	case 3:
		k.add(&recording.Boundary{Thread: k.thread(p), Counter: k.ids, What: "timers"})
	case 4:
		part := recording.DNSPart(k.r.IntN(2))
		k.add(&recording.DNS{Thread: k.thread(p), Part: part, ID: int64(k.r.IntN(3)), Name: "a", Type: "A", Addrs: "127.0.0.1"})
	default:
		if len(k.conns) > 0 {
			k.talk(k.conns[k.r.IntN(len(k.conns))])
		}
	}
}

func (k *cook) thread(p recording.ProcessID) recording.ThreadID {
	if p == 4 { // its threads work for each other
		return recording.ThreadID(int64(p)*10 + 1 + int64(k.r.IntN(4)))
	}
	return recording.ThreadID(int64(p)*10 + 1 + int64(k.r.IntN(8)/7))
}

func (k *cook) conn(p recording.ProcessID) {
	c := &recording.Conn{
		ID: recording.ConnID(len(k.conns) + 1), Process: p, Side: recording.Side(k.r.IntN(2)), Thread: k.thread(p),
		Peer: "127.0.0.1:80", Existing: int64(k.r.IntN(4) / 3), Counter: k.ids, Exec: k.id(), Trigger: k.id(),
		Parent: recording.GoroutineID(k.r.IntN(4)),
	}
	k.conns, k.pos[c.ID] = append(k.conns, c), &[2]int64{}
	k.add(c)
	if c.Side == recording.Outbound && k.r.IntN(4) > 0 {
		k.now += 10
		k.add(&recording.Established{Conn: c.ID})
	}
	if k.r.IntN(3) == 0 {
		k.add(&recording.ConnProtocol{Conn: c.ID, Protocol: recording.ProtocolTLS})
	}
}

// id is an async id that was given out lately, or none.
func (k *cook) id() int64 { return max(0, k.ids-int64(k.r.IntN(12))) }

func (k *cook) off(p recording.ProcessID) {
	since := k.now
	k.now += recording.Time(k.r.IntN(100))
	k.add(&recording.Off{
		Thread: k.thread(p), Since: since, Woken: (since + k.now) / 2, State: recording.OffState(k.r.IntN(3)),
		Syscall: []string{"futex", "epoll_pwait", "epoll_pwait", "read", "nanosleep", ""}[k.r.IntN(6)],
		Timed:   int64(k.r.IntN(2)), WakerKind: recording.WakerInterrupt, Goroutine: recording.GoroutineID(k.r.IntN(3)),
		SP: int64(k.r.IntN(3)), Arg: int64(k.r.IntN(3)),
	})
	if off := k.rec.Events[len(k.rec.Events)-1].Fact.(*recording.Off); off.Syscall == "futex" && k.r.IntN(3) > 0 {
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, k.thread(p), 1
	}
}

// talk moves bytes on a connection, mostly a message with its head.
func (k *cook) talk(c *recording.Conn) {
	if k.r.IntN(40) == 0 {
		k.add(&recording.Closed{Conn: c.ID})
		return
	}
	dir := recording.Direction(k.r.IntN(2))
	offset := k.pos[c.ID][dir]
	k.pos[c.ID][dir] += 50
	k.add(&recording.Chunk{
		Conn: c.ID, Thread: k.thread(c.Process), Dir: dir, Offset: offset, Bytes: 50, Arrived: k.now - recording.Time(k.r.IntN(60)),
		Goroutine: recording.GoroutineID(k.r.IntN(4) * int(c.Process/2%2)), Exec: k.id(), Trigger: k.id(), Counter: k.ids,
	})
	asks := (dir == recording.Read) == (c.Side == recording.Inbound)
	if c.Side == recording.Outbound && c.ID%3 == 0 {
		k.command(c, dir, offset)
		return
	}
	switch k.r.IntN(5) {
	case 0:
	case 1:
		k.add(&recording.TLS{Conn: c.ID, Dir: dir, Record: recording.TLSRecord(k.r.IntN(7)), Offset: offset, Bytes: 45, Version: 0x0304})
	default:
		if asks {
			k.add(&recording.HTTPRequest{Conn: c.ID, Offset: offset, Head: 20, Length: int64(k.r.IntN(30)) - 1, Method: "GET", Route: "/"})
			if k.r.IntN(4) == 0 { // two at once
				k.add(&recording.HTTPRequest{Conn: c.ID, Offset: offset + 30, Head: 20, Length: -1, Method: "GET", Route: "/"})
			}
		} else {
			if k.r.IntN(4) == 0 {
				k.add(&recording.Late{Conn: c.ID, Offset: offset + 50, Left: k.now + recording.Time(k.r.IntN(60))})
			}
			k.add(&recording.HTTPResponse{Conn: c.ID, Offset: offset, Head: 30, Length: int64(k.r.IntN(30)) - 1, Status: []int64{100, 200, 200, 200, 101}[k.r.IntN(5)]})
		}
	}
}

// command turns a chunk into one or two commands or replies, some of which are missing.
func (k *cook) command(c *recording.Conn, dir recording.Direction, offset int64) {
	for range k.r.IntN(3) {
		length := int64(k.r.IntN(3) * 25)
		if dir == recording.Write {
			k.add(&recording.Command{Conn: c.ID, Offset: offset, Length: length, Operation: []string{"GET", "BLPOP", ""}[k.r.IntN(3)]})
		} else {
			k.add(&recording.Reply{Conn: c.ID, Offset: offset, Length: length, Skipped: int64(k.r.IntN(8) / 7)})
		}
		offset += 25
	}
}

// filler fills the fields of a fact with small random values, so that they coincide.
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
