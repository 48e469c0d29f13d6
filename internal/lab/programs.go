package lab

import "github.com/getdwell/dwell/recording"

// forking is how long a thread takes to start a program.
const forking = 200 * Microsecond

// start lets a thread start a program, and wait for its end.
func (p *play) start(t *thread, s *Step, then func()) {
	p.on(t, forking, "", func() {
		program := &thread{id: p.Threads + p.order, off: &offSpan{since: p.now, woken: p.now, preempted: true}}
		program.then = func() {
			p.on(program, s.took, "", func() {
				p.facts.exits(p.now, program)
				p.wake(t, nil, then)
				p.yield()
			})
		}
		p.facts.begins(p.now, program, t)
		p.ready = append(p.ready, program)
		t.off = &offSpan{since: p.now, step: s, syscall: "wait4"}
		p.yield()
	})
}

// begins records a program and its only thread, which another thread started.
func (f *facts) begins(at Time, program, by *thread) {
	if f == nil {
		return
	}
	id, number := recording.ThreadID(program.id), 100+int64(program.id)
	process := recording.ProcessID(program.id)
	f.add(at, &recording.Process{ID: process, PID: number, Start: int64(at), Parent: 1, Comm: "convert", Exe: "convert"})
	f.add(at, &recording.Thread{ID: id, TID: number, Start: int64(at), Process: process, Creator: recording.ThreadID(by.id), Name: "convert"})
}

func (f *facts) exits(at Time, program *thread) {
	if f != nil {
		f.add(at, &recording.ThreadExit{Thread: recording.ThreadID(program.id)})
		f.add(at, &recording.ProcessExit{Process: recording.ProcessID(program.id)})
	}
}
