package hypotheses

import (
	"fmt"

	"github.com/getdwell/dwell/recording"
)

// proxyStories are services that reach their peer through a SOCKS proxy.
func proxyStories() []story {
	play := func(each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording { return done(serve(newScenario(recording.RuntimeNative), each), 30) }
	}
	fresh := func(takes recording.Time) func(t *thread, i int) {
		return func(t *thread, _ int) {
			o := t.proxied(takes)
			t.sealed(o, 3000*us)
			t.hangUp(o, recording.ClosedByUs)
		}
	}
	kept := func(t *thread, _ int) {
		if t.kept == nil {
			t.kept = t.proxied(3000 * us)
		}
		t.sealed(t.kept, 3000*us)
	}
	unseen := func() *recording.Recording {
		s := serve(newScenario(recording.RuntimeNative), kept)
		s.add(251_000*us, &recording.Loss{Hook: recording.HookIO, CPU: 1, Count: 12, From: 250_000 * us})
		return done(s, 30)
	}
	return []story{
		{"connection-churn/proxy-supported", "Every request opens a connection through a proxy, and makes one call on it: what the two agree upon takes 6 ms, the call 3 ms.", play(fresh(3000 * us))},
		{"connection-churn/proxy-refuted", "One connection through a proxy is kept.", play(kept)},
		{"connection-churn/proxy-undecided", "One connection through a proxy is kept, and facts of reads and writes were lost while a request ran.", unseen},
		{"n-plus-one/proxy-refuted", "Every request makes one call, on a connection through a proxy of its own: what is agreed with the proxy is no call.", play(fresh(3000 * us))},
		{"slow-peer/proxy-lead", "The peer behind a proxy takes 3 ms of each request; who it is, is what the proxy was asked for.", play(kept)},
	}
}

// proxied opens a connection through a SOCKS proxy that takes so long for each answer.
func (t *thread) proxied(takes recording.Time) *outgoing {
	t.conns++
	t.port++
	o := &outgoing{id: t.conns}
	t.add(t.at, &recording.Conn{ID: o.id, Side: recording.Outbound, Process: 1, Thread: t.id, Local: fmt.Sprintf("10.0.0.1:%d", t.port), Peer: "10.0.0.3:1080"})
	t.sleep(t.at+200*us, 5*us, "connect")
	t.add(t.at-5*us, &recording.Established{Conn: o.id})
	for _, sizes := range [...][2]int64{{3, 2}, {15, 10}} {
		t.compute(10 * us)
		t.chunk(o.id, &o.bytes, recording.Write, sizes[0], 0)
		t.sleep(t.at+takes, 5*us, "read")
		t.chunk(o.id, &o.bytes, recording.Read, sizes[1], t.at-5*us)
	}
	t.add(t.at, &recording.Tunnel{Conn: o.id, Proxy: recording.ProxySOCKS5, Written: o.bytes[recording.Write], Read: o.bytes[recording.Read], Target: "db.test:6380"})
	return o
}
