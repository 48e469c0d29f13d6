package truth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lossy are services that ask over UDP, of which one datagram in eight is lost: each waits
// for its time-out then.
func lossy() []scenario {
	with := func(kind runtimeKind, flow string) scenario {
		return scenario{
			name: "lost datagrams", runtime: kind, env: []string{"UDP_TIMEOUT=60000"}, rate: 60,
			plan: plan{cpu: 300, calls: 1, delay: 4000, flow: flow},
		}
	}
	return []scenario{with(python(), ""), with(golang(), "udp")}
}

// TestLostDatagrams: what is slow then is the peer, as it seems to who asks; without the loss
// nothing is.
func TestLostDatagrams(t *testing.T) {
	t.Parallel()
	for _, sc := range lossy() {
		t.Run(sc.runtime.name, func(t *testing.T) {
			leaveOut(t)
			try := sc.trying(t)
			try(func() []string { return sc.healthy(t) })
			sc.env = append(sc.env, "LOSE=8")
			try(func() []string {
				s := newStage(t, sc)
				file, recorder := s.record()
				s.send(sc, judgedFor)
				s.stop(recorder)
				// While other work wants the processors, a peer on the same host is a lead.
				findings, leads := s.why(file)
				all := slices.DeleteFunc(append(findings, leads...), func(f found) bool { return f.ID == "run-queue" })
				if len(all) == 0 || all[0].ID != "slow-peer" || !strings.Contains(all[0].Title, "exchanges over UDP were repeated because no answer came") {
					return []string{fmt.Sprintf("want the peer first: %+v", all)}
				}
				t.Log(all[0].Title)
				return nil
			})
		})
	}
}
