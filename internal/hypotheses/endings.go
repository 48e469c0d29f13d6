package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// ending counts how the connections of churned calls ended.
type ending struct {
	us       int // closed first by us
	ourIdle  int // of those: after an idle pause
	peer     int // closed first by the peer, right after its answer
	idle     int // closed first by the peer after an idle pause
	asked    map[timeline.EndAsked]int
	sealed   int // connections with TLS: what is asked on them may not be seen
	ports    int
	timeWait int // sockets: closes by us in the time that TIME-WAIT lasts
}

// timeWaitSeconds is how long Linux keeps the side that closed first in TIME-WAIT.
const timeWaitSeconds = 60

// idlePause is how long a connection must be unused for its end to count as one of idleness.
const idlePause = second

func endings(c *diagnosis.Case, ch churn) (e ending) {
	last := map[recording.ConnID]diagnosis.Time{} // when the last answer on it ended
	for id := range ch.churned {
		last[c.Calls[id].Conn] = c.Calls[id].End
	}
	for _, id := range ch.calls {
		if at, ok := last[c.Calls[id].Conn]; ok {
			last[c.Calls[id].Conn] = max(at, c.Calls[id].End)
		}
	}
	ports := map[string]bool{}
	e.asked = map[timeline.EndAsked]int{}
	for i := range c.Conns {
		cn := &c.Conns[i]
		used, ok := last[cn.ID]
		if !ok {
			continue
		}
		ports[cn.Local] = true
		e.asked[cn.Asked]++
		if cn.TLSFrom != recording.NoTime {
			e.sealed++
		}
		switch {
		case cn.By == recording.ClosedByUs:
			e.us++
			if cn.Closed.Sub(used) >= idlePause {
				e.ourIdle++
			}
		case cn.By != recording.ClosedByPeer && cn.By != recording.ClosedReset:
		case cn.Closed.Sub(used) >= idlePause:
			e.idle++
		default:
			e.peer++
		}
	}
	e.ports = len(ports)
	if busy := c.BusyTime(); busy > 0 {
		e.timeWait = int(int64(e.us) * timeWaitSeconds * 1000 / max(1, int64(busy/1_000_000)))
	}
	return e
}

// story says which side ended the connections, and what to do about it.
func (e ending) story(rt recording.Runtime) (closer, fix string) {
	switch {
	case e.us+e.peer+e.idle == 0:
		return "it was not seen which side closes them", reuseFix(rt)
	case e.idle > e.us+e.peer:
		return "the peer closes them when idle", peerClosesFix(rt)
	case 2*e.ourIdle > e.us && e.us >= e.peer:
		return "our side closes them when idle", idleFix(rt)
	}
	closer = "our side closes them first"
	switch {
	case e.peer > e.us && 10*e.us >= e.peer:
		closer = "both sides close connections right after the answer (which one is first is chance: the peer " + diagnosis.Thousands(int64(e.peer)) + " times, our side " + diagnosis.Thousands(int64(e.us)) + ")"
	case e.peer > e.us:
		closer = "the peer closes them right after its answer"
	}
	switch e.mostAsked() {
	case timeline.EndByRequest:
		return closer + " because our requests ask for it (Connection: close)", reuseFix(rt) + "; do not ask for it (" + asksToClose(rt) + ")"
	case timeline.EndByAnswer:
		return closer + " because the peer's answers ask for it (Connection: close)",
			"have the peer, or the proxy in front of it, keep connections open (HTTP keep-alive); on our side: " + reuseFix(rt)
	case timeline.EndNotAsked:
		return closer + ", although neither side asked for it", reuseFix(rt)
	}
	if e.peer > e.us && 2*e.sealed > e.us+e.peer+e.idle {
		return closer + "; TLS hides which side asks for it", "if our requests ask for the close (" + asksToClose(rt) + "), stop that; if the peer's answers do (curl -v --http1.1 shows them), see its keep-alive setting; otherwise " + reuseFix(rt)
	}
	return closer, reuseFix(rt)
}

// mostAsked returns which side asked for the end of most of the connections; EndNotSeen if neither did.
func (e ending) mostAsked() timeline.EndAsked {
	all := 0
	for _, n := range e.asked {
		all += n
	}
	for who, n := range e.asked {
		if 2*n > all {
			return who
		}
	}
	return timeline.EndNotSeen
}
