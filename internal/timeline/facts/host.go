package facts

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// hostFact takes facts about the machine and the recording itself, which a Timeline holds as they are.
func (f *Facts) hostFact(at recording.Time, fact recording.Fact) {
	t := f.t
	switch x := fact.(type) {
	case *recording.Manifest:
		t.Manifest = *x
	case *recording.End:
		t.Truncated = false
	case *recording.Overhead:
		t.Overhead.Overhead = *x
		t.Overhead.Samples = append(t.Overhead.Samples, timeline.OverheadSample{Time: at, Used: recording.Duration(x.UserCPU + x.BPF)})
	case *recording.Neighbour:
		t.Neighbours = append(t.Neighbours, timeline.NeighbourSample{Time: at, Neighbour: *x})
	case *recording.Host:
		t.Hosts = append(t.Hosts, timeline.HostSample{Time: at, Host: *x})
	case *recording.Loss:
		t.Losses = append(t.Losses, timeline.Loss{Hook: x.Hook, CPU: x.CPU, From: min(x.From, at), To: at, Count: x.Count})
	case *recording.Gap:
		f.gaps = append(f.gaps, timeline.Window{From: min(x.From, at), To: at})
	case *recording.Missing:
		t.Missing = append(t.Missing, *x)
	case *recording.Unseen:
		t.AddUnseen(at, x)
	case *recording.Listen:
		f.listener(x.Port).Limit = x.Backlog
	case *recording.Backlog:
		l := f.listener(x.Port)
		if x.Limit != 0 {
			l.Limit = x.Limit
		}
		l.Depths = append(l.Depths, timeline.Depth{Time: at, Depth: x.Depth})
	}
}

// listener returns the listener of a port, and makes it at its first mention.
func (f *Facts) listener(port int64) *timeline.Listener {
	t := f.t
	for i := range t.Listeners {
		if t.Listeners[i].Port == port {
			return &t.Listeners[i]
		}
	}
	t.Listeners = append(t.Listeners, timeline.Listener{Port: port})
	return &t.Listeners[len(t.Listeners)-1]
}

// windows returns the parts of a recording outside its gaps.
func windows(start, end recording.Time, gaps []timeline.Window) []timeline.Window {
	list := make([]timeline.Window, 0, len(gaps)+1)
	for _, g := range gaps {
		if g.From > start {
			list = append(list, timeline.Window{From: start, To: g.From})
		}
		start = max(start, g.To)
	}
	if start < end || len(list) == 0 {
		list = append(list, timeline.Window{From: start, To: end})
	}
	return list
}

// Window returns the window that contains a time.
func (f *Facts) Window(at recording.Time) timeline.Window {
	return f.Windows[timeline.WindowOf(f.Windows, at)]
}
