package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/torture"
	"github.com/getdwell/dwell/recording"
)

// Limits for every command on a small recording, whatever it contains.
const (
	mostMemory = 1 << 30
	mostTime   = 20 * time.Second
)

// views are the command lines applied to each recording: REC is the recording, SOUND the one it was made from.
func views() [][]string {
	return [][]string{
		{"why", "REC"},
		{"why", "REC", "--json", "--flames"},
		{"show", "REC", "--slowest", "20"},
		{"show", "REC", "--json"},
		{"show", "REC", "--tree", "--all-frames"},
		{"show", "REC", "--folded"},
		{"threads", "REC"},
		{"threads", "REC", "--when", "blocked>10%", "--json"},
		{"threads", "REC", "--every", "200ms"},
		{"diff", "SOUND", "REC"},
		{"diff", "REC", "SOUND", "--json"},
		{"facts", "REC"},
	}
}

// Damaged and forged recordings are read or refused: no command fails on them, exceeds the stated limits of memory or
// time, or ends with a status other than those of the contract. DWELL_TORTURE sets their number; make torture uses
// 2,000.
func TestDamagedRecordings(t *testing.T) {
	count := 250
	if n, err := strconv.Atoi(os.Getenv("DWELL_TORTURE")); err == nil {
		count = n
	}
	usual := debug.SetGCPercent(400) // a third less to compute; mostMemory is far off, garbage included
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	bases := soundRecordings(t)
	r := rand.New(rand.NewPCG(1, uint64(count)))
	seeds := make([]uint64, count)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	const racks = 2 // in parallel
	for first := range racks {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			rack := newRack(t)
			for i := first; i < count; i += racks {
				base, pick := bases[i%len(bases)], rand.New(rand.NewPCG(seeds[i], 2))
				rack.stretch(base, fmt.Sprintf("%s, seed %d", base, seeds[i]), torture.Damage(loadEvents(t, base), 1+pick.IntN(6), pick))
			}
			t.Logf("%d damaged recordings x %d views: statuses %v, at most %s and %d MB", (count-first+racks-1)/racks, len(views()), rack.statuses, rack.longest.Round(time.Millisecond), rack.most.Load()>>20)
		})
	}
}

// Recordings that earlier versions hung on, failed on or ran out of memory on.
func TestHostileRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	rack := newRack(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(rack.path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		rack.askAll("bundled/bad.txt", file)
	}
}

// FuzzDamage lets the fuzzer choose what is changed, and one view to apply: all views together take longer on a busy
// host than Go's fuzzer waits for an input.
func FuzzDamage(f *testing.F) {
	bases := soundRecordings(f)
	for i := 0; i < len(bases); i += 16 { // TestDamagedRecordings uses all of them
		f.Add(uint16(i), byte(i/16), []byte{byte(i), 40, byte(3 * i), 11, 2, 13, byte(i), 7, 1, 11, 2, 12})
	}
	f.Fuzz(func(t *testing.T, base uint16, view byte, changes []byte) {
		path := bases[int(base)%len(bases)]
		by, rack := torture.Bytes(changes), newRack(t)
		rack.write(path, torture.Damage(loadEvents(t, path), 1+len(changes)/6, &by))
		rack.put(views()[int(view)%len(views())], path, path)
	})
}

// soundRecordings returns the recordings in the repository.
func soundRecordings(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, in := range []string{"../../internal/hypotheses/testdata/*/*.txt", "../../internal/report/testdata/*.txt", "../../cases/*/recording-*.txt", "bundled/*.txt"} {
		list, err := filepath.Glob(in)
		if err != nil || len(list) == 0 {
			t.Fatalf("no recordings at %s: %v", in, err)
		}
		for _, path := range list {
			if _, err := readRecording("test", path); err == nil {
				all = append(all, path)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return bytes.Compare(hash(a), hash(b)) }) // not kind by kind
	return all
}

func hash(s string) []byte {
	v := rand.New(rand.NewPCG(uint64(len(s)), uint64(s[len(s)/2])<<8|uint64(s[len(s)-5]))).Uint64()
	return strconv.AppendUint(nil, v, 36)
}

func loadEvents(t testing.TB, path string) []recording.Event {
	t.Helper()
	rec, err := readRecording("test", path)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Events
}

// rack applies views to recordings.
type rack struct {
	t        testing.TB
	path     string
	statuses map[int]int
	longest  time.Duration
	most     atomic.Uint64        // bytes
	now      atomic.Pointer[step] // the current step
}

type step struct {
	what  string
	since time.Time
}

func newRack(t testing.TB) *rack {
	r := &rack{t: t, path: filepath.Join(t.TempDir(), "damaged.dwell"), statuses: map[int]int{}}
	done := make(chan struct{})
	go r.watch(done)
	t.Cleanup(func() { close(done) })
	return r
}

// watch fails the test, naming the current step, when that exceeds a limit.
func (r *rack) watch(done chan struct{}) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for {
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
		s := r.now.Load()
		if s == nil {
			continue
		}
		metrics.Read(sample)
		used := sample[0].Value.Uint64() + sample[1].Value.Uint64()
		r.most.Store(max(r.most.Load(), used))
		if took := time.Since(s.since); used > mostMemory || took > mostTime {
			stacks := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "%s: %d MB after %s\n%s\n", s.what, used>>20, took, stacks[:runtime.Stack(stacks, true)])
			os.Exit(1)
		}
	}
}

// stretch applies every view to a recording.
func (r *rack) stretch(sound, name string, events []recording.Event) {
	r.write(name, events)
	r.askAll(sound, name)
}

// write makes a recording of events.
func (r *rack) write(name string, events []recording.Event) {
	file, err := os.Create(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := recording.NewWriter(file)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	file.Close()
}

// askAll applies every view to the file at the path.
func (r *rack) askAll(sound, name string) {
	for _, view := range views() {
		r.put(view, sound, name)
	}
}

// put applies one view to the file at the path.
func (r *rack) put(view []string, sound, name string) {
	args := slices.Clone(view)
	for i, a := range args {
		args[i] = cmp.Or(map[string]string{"REC": r.path, "SOUND": sound}[a], a)
	}
	r.ask(name, args)
}

func (r *rack) ask(name string, args []string) {
	began := time.Now()
	r.now.Store(&step{fmt.Sprintf("%v of %s", args, name), began})
	defer r.now.Store(nil)
	var said bytes.Buffer
	status := execute(r.t.Context(), args, world{out: io.Discard, err: &said, getenv: environment()})
	r.longest = max(r.longest, time.Since(began))
	r.statuses[status]++
	if status != exitDone && status != exitCannot && status != exitUndecided {
		r.t.Errorf("%v of %s: status %d\n%s", args, name, status, said.String())
	}
}
