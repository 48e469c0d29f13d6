package hypotheses

import (
	"cmp"

	"github.com/getdwell/dwell/recording"
)

// releaseEvery is the time between two requests of a worker.
const releaseEvery = 150_000 * us

// lives moves a thread, which the scenario puts into process 1, to another process that begins and ends at these times;
// 0: with the recording.
func (t *thread) lives(process recording.ProcessID, begins, ends recording.Time) {
	for i := range t.events {
		e := &t.events[i]
		switch f := e.Fact.(type) {
		case *recording.Thread:
			if f.ID == t.id {
				f.Process, e.Time = process, max(e.Time, begins)
			}
		case *recording.ThreadState:
			if f.Thread == t.id {
				e.Time = max(e.Time, begins)
			}
		case *recording.Conn:
			if f.ID == t.in || f.Thread == t.id {
				f.Process = process
			}
		case *recording.Off:
			if f.Thread == t.id {
				f.Since = max(f.Since, begins)
			}
		}
	}
	if process > 1 {
		declared := recording.Event{Time: max(us, begins), Fact: &recording.Process{
			ID: process, PID: 99 + int64(process), Start: int64(max(us, begins)), Comm: "shop", Exe: "shop", Runtime: t.runtime,
		}}
		t.events = append([]recording.Event{declared}, t.events...) // before its threads
	}
	if ends > 0 {
		t.add(ends, &recording.ThreadExit{Thread: t.id})
		t.add(ends, &recording.ProcessExit{Process: process})
	}
}

// span says which requests of a story a worker serves.
type span struct {
	process  recording.ProcessID
	from, to int
	ends     bool
	every    recording.Time // between requests
	remote   func(i int) recording.Time
}

// released makes workers of several processes serve; each request asks a database.
func released(workers ...span) func() *recording.Recording {
	return func() *recording.Recording {
		s := newScenario(recording.RuntimePython)
		for _, w := range workers {
			begins := recording.Time(w.from)*releaseEvery + 20_000*us
			t := s.worker(recording.ThreadID(w.process), begins+10_000*us)
			every := cmp.Or(w.every, releaseEvery)
			at := begins + 30_000*us
			for i := 0; at < recording.Time(w.to)*releaseEvery; i++ {
				t.request(at, 10*us, "/prices/{}")
				t.compute(500 * us)
				keptCall(t, w.remote(i))
				t.respond()
				at += every
			}
			if w.process == 1 || w.from == 0 {
				begins = 0
			}
			ends := recording.Time(0)
			if w.ends {
				ends = t.at + 1000*us
			}
			t.lives(w.process, begins, ends)
		}
		return done(s, 30)
	}
}

func always(d recording.Time) func(int) recording.Time {
	return func(i int) recording.Time { return d + recording.Time(i%5)*100*us }
}

func releaseStories() []story {
	old := span{process: 1, to: 45, ends: true, remote: always(2000 * us)}
	young := func(remote func(int) recording.Time) span {
		return span{process: 2, from: 46, to: 130, remote: remote}
	}
	faster := func(i int) recording.Time { return max(4000, 30_000-300*recording.Time(i)) * us }
	busier := young(always(12_000 * us))
	busier.every = 60_000 * us
	return []story{
		{"release/supported", "A process serves 45 requests and ends; another takes over, and its database calls take 12 ms instead of 2.",
			released(old, young(always(12_000*us)))},
		{"release/refuted", "A process ends, another takes over, and its requests take as long.",
			released(old, young(always(2000*us)))},
		{"release/undecided", "One process serves all requests.",
			released(span{process: 1, to: 60, remote: always(2000 * us)})},
		{"release/cluster-undecided", "Two workers serve, the second one slowly: both go on to the end.",
			released(span{process: 1, to: 60, remote: always(2000 * us)}, span{process: 2, to: 60, remote: always(12_000 * us)})},
		{"release/recycled-undecided", "Of two workers one ends, and another takes its place: no release.",
			released(old, span{process: 3, to: 75, remote: always(2000 * us)},
				span{process: 2, from: 46, to: 75, remote: always(12_000 * us)})},
		{"release/warming-undecided", "The process that took over becomes faster and faster.",
			released(old, young(faster))},
		{"release/busier-undecided", "The process that took over is slower, but gets more than twice the requests, too.",
			released(old, busier)},
	}
}
