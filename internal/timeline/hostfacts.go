package timeline

import "github.com/getdwell/dwell/recording"

// hostFact takes facts about the machine and the recording itself, which a Timeline
// carries as they are.
func (t *Timeline) hostFact(at Time, fact recording.Fact) {
	switch x := fact.(type) {
	case *recording.Manifest:
		t.Manifest = *x
	case *recording.End:
		t.Truncated = false
	case *recording.Overhead:
		t.Overhead = *x
	case *recording.Neighbour:
		t.Neighbours = append(t.Neighbours, NeighbourSample{Time: at, Neighbour: *x})
	case *recording.Host:
		t.Hosts = append(t.Hosts, HostSample{Time: at, Host: *x})
	case *recording.Loss:
		t.Losses = append(t.Losses, Loss{Hook: x.Hook, CPU: x.CPU, From: min(x.From, at), To: at, Count: x.Count})
	case *recording.Gap:
		t.gaps = append(t.gaps, Window{min(x.From, at), at})
	case *recording.Missing:
		t.Missing = append(t.Missing, *x)
	case *recording.Unseen:
		if t.unseen == nil {
			t.unseen = unseenTimes{}
		}
		t.unseen.add(at, x)
	case *recording.Listen:
		t.listener(x.Port).Limit = x.Backlog
	case *recording.Backlog:
		l := t.listener(x.Port)
		if x.Limit != 0 {
			l.Limit = x.Limit
		}
		l.Depths = append(l.Depths, Depth{Time: at, Depth: x.Depth})
	}
}

// listener returns the listener of a port, made at its first mention.
func (t *Timeline) listener(port int64) *Listener {
	for i := range t.Listeners {
		if t.Listeners[i].Port == port {
			return &t.Listeners[i]
		}
	}
	t.Listeners = append(t.Listeners, Listener{Port: port})
	return &t.Listeners[len(t.Listeners)-1]
}
