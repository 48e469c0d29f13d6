package report

import (
	"cmp"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// ProgramFlames makes flame graphs of a recording without requests: of all threads of each program; the program that
// used most CPU comes first. It omits sleep for the network and of idle threads, because what it was for is not
// known.
func ProgramFlames(tl *timeline.Timeline) []*Flames {
	var out []*Flames
	for _, program := range diagnosis.Programs(tl) {
		w := weighProgram(tl, program)
		if w.total == 0 {
			continue
		}
		f := flamesBy(tl, w)
		f.Program = program
		out = append(out, f)
	}
	return out
}

// weighProgram adds up the time of a program's threads by stack.
func weighProgram(tl *timeline.Timeline, program string) *weights {
	w := &weights{by: map[timeline.StackID]*amounts{}, unseen: map[string]*amounts{}, samples: map[timeline.StackID]int{}}
	member := map[recording.ProcessID]bool{}
	for i := range tl.Processes {
		if p := &tl.Processes[i]; cmp.Or(p.Exe, p.Comm) == program {
			member[p.ID] = true
		}
	}
	for i := range tl.Strands {
		st := &tl.Strands[i]
		if !member[st.Process] {
			continue
		}
		for _, iv := range st.Intervals {
			took := iv.To.Sub(iv.From)
			switch iv.State {
			case timeline.StateRunning:
				w.shared.took[timeline.CauseOnCPU] += took
			case timeline.StateRunnable:
				w.shared.took[timeline.CauseRunnable] += took
			default:
				continue
			}
			w.total += took
		}
		for _, s := range st.Stacks {
			if s.Origin == recording.StackOnCPU && s.Stack != timeline.None {
				w.samples[s.Stack]++
			}
		}
	}
	w.programWaits(tl, member)
	w.share()
	return w
}

func (w *weights) programWaits(tl *timeline.Timeline, member map[recording.ProcessID]bool) {
	for i := range tl.Waits {
		x := &tl.Waits[i]
		if !member[tl.Strands[x.Strand].Process] || x.Rule == timeline.RuleIdle {
			continue
		}
		a := at(w.unseen, "(no stack)")
		if x.Stack != timeline.None {
			a = at(w.by, x.Stack)
			if x.Borrowed {
				a.placed++
			} else {
				a.stacks++
			}
		}
		a.took[x.Cause] += x.To.Sub(x.From)
		w.total += x.To.Sub(x.From)
	}
}
