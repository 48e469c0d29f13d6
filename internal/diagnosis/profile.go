package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// Profile is what the processes of one program did in a recording, whether or not they served requests.
type Profile struct {
	Program   string // name of the executable
	Processes int
	Span      Duration // in which its threads were seen
	CPU       Duration // that they used
	Samples   int      // stacks taken of them on CPUs
	Measures  []Measure
	Frames    []FrameShare // by the share of samples in which they were on the stack
}

// Measure is a quantity of a Profile.
type Measure struct {
	Group string // "concurrency", "cpu", "waits", "storage", "requests"
	What  string
	Value int64
	Unit  Unit
}

// FrameShare is a function, the share of the samples in which it was on the stack, and the share in which it was the
// innermost frame.
type FrameShare struct {
	Function    string
	Under, Self Share
	Own         bool // belongs to the program itself, as far as names and paths show
}

// Programs lists the programs of a recording, the one that used most CPU first; programs that only build others come
// last.
func Programs(t *timeline.Timeline) []string {
	used, names, of := map[string]Duration{}, []string{}, programNames(t)
	for i := range t.Strands {
		name := of[t.Strands[i].Process]
		if _, known := used[name]; !known {
			names = append(names, name)
		}
		used[name] += inState(t.Strands[i].Intervals, timeline.StateRunning)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := builds(a), builds(b)
		if x != y {
			return cmp.Compare(b2i(x), b2i(y))
		}
		return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b))
	})
	return names
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// builds reports whether a program makes other programs: such programs run beside a benchmark or a service and are not
// the subject.
func builds(program string) bool {
	switch program {
	case "go", "compile", "link", "asm", "cgo", "vet", "buildid", "gcc", "cc1", "collect2", "ld", "as", "mvn", "javac", "npm", "make", "sh", "bash", "dash", "env", "sudo":
		return true
	}
	return false
}

// programNames returns the name of each process's program.
func programNames(t *timeline.Timeline) map[recording.ProcessID]string {
	of := map[recording.ProcessID]string{}
	for i := range t.Processes {
		of[t.Processes[i].ID] = cmp.Or(t.Processes[i].Exe, t.Processes[i].Comm)
	}
	return of
}

func inState(list []timeline.Interval, state timeline.State) (sum Duration) {
	for i := range list {
		if list[i].State == state {
			sum += list[i].To.Sub(list[i].From)
		}
	}
	return sum
}

// profiler makes one Profile.
type profiler struct {
	t       *timeline.Timeline
	strands []timeline.StrandID
	member  map[recording.ProcessID]bool
	from    Time // span in which its threads were seen
	to      Time
	out     *Profile
}

// NewProfile sums up what the processes of a program did; the zero Profile if there is none.
func NewProfile(t *timeline.Timeline, program string) Profile {
	p := &profiler{t: t, member: map[recording.ProcessID]bool{}, from: t.End, to: t.Start, out: &Profile{Program: program}}
	for id, name := range programNames(t) {
		if name == program {
			p.member[id] = true
		}
	}
	for i := range t.Strands {
		s := &t.Strands[i]
		if !p.member[s.Process] {
			continue
		}
		p.strands = append(p.strands, timeline.StrandID(i))
		for _, iv := range s.Intervals {
			if iv.State != timeline.StateUnknown {
				p.from, p.to = min(p.from, iv.From), max(p.to, iv.To)
			}
		}
		p.out.CPU += inState(s.Intervals, timeline.StateRunning)
	}
	p.out.Processes = len(p.member)
	if p.out.Span = t.InWindows(p.from, p.to); p.out.Span == 0 {
		return *p.out
	}
	p.concurrency()
	p.waits()
	p.storage()
	p.requests()
	p.frames()
	return *p.out
}

func (p *profiler) add(group, what string, value int64, unit Unit) {
	p.out.Measures = append(p.out.Measures, Measure{group, what, value, unit})
}

// mean converts a time summed over threads to a number of threads, in thousandths.
func (p *profiler) mean(d Duration) int64 {
	return int64(d/1000) * 1000 / max(1, int64(p.out.Span/1000))
}

// rate converts a count to a count per second, in thousandths.
func (p *profiler) rate(n int64) int64 {
	return scaled(n, 1_000_000_000, max(1, int64(p.out.Span/1000)))
}

// frames distributes the samples over functions.
func (p *profiler) frames() {
	under, self := map[string]int{}, map[string]int{}
	names, own := map[timeline.FrameID]string{}, map[string]bool{}
	name := func(f timeline.FrameID) string {
		if _, ok := names[f]; !ok {
			names[f] = symbol.Name(p.t.Frames[f])
			own[names[f]] = own[names[f]] || symbol.Application(p.t.Frames[f])
		}
		return names[f]
	}
	seen := map[string]bool{}
	for _, s := range p.strands {
		for _, x := range p.t.Strands[s].Stacks {
			if x.Origin != recording.StackOnCPU || x.Stack == timeline.None {
				continue
			}
			p.out.Samples++
			self[name(p.t.Stacks[x.Stack].Frame)]++
			clear(seen)
			for id := x.Stack; id != timeline.None; id = p.t.Stacks[id].Caller {
				if n := name(p.t.Stacks[id].Frame); n != "" && !seen[n] {
					seen[n] = true
					under[n]++
				}
			}
		}
	}
	all := int64(p.out.Samples)
	for n, k := range under {
		p.out.Frames = append(p.out.Frames, FrameShare{n, ShareOf(int64(k), all), ShareOf(int64(self[n]), all), own[n]})
	}
	slices.SortFunc(p.out.Frames, func(a, b FrameShare) int {
		return cmp.Or(cmp.Compare(b.Under, a.Under), cmp.Compare(b.Self, a.Self), cmp.Compare(a.Function, b.Function))
	})
}
