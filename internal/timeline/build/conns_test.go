package build

import "testing"

// Two services share one address, and each connection's handshake named one of them. After a pause, in which handshakes
// are not seen, a connection keeps its earlier name.
func TestNamesOutliveAPause(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals tls"
1ms process id=1 pid=100 runtime=native comm=x
1ms thread id=1 tid=101 process=1
2ms conn id=1 side=out process=1 thread=1 local=127.0.0.1:5000 peer=10.0.0.1:443
2ms conn id=2 side=out process=1 thread=1 local=127.0.0.1:5001 peer=10.0.0.1:443
3ms chunk conn=1 thread=1 dir=write bytes=200
3ms conn-protocol conn=1 protocol=tls
3ms tls conn=1 dir=write record=client-hello bytes=200 sni=prices.example
4ms chunk conn=2 thread=1 dir=write bytes=200
4ms conn-protocol conn=2 protocol=tls
4ms tls conn=2 dir=write record=client-hello bytes=200 sni=stock.example
60ms gap from=30ms
61ms conn id=3 side=out process=1 existing=1 local=127.0.0.1:5001 peer=10.0.0.1:443 before=2
90ms end reason=time
`))
	if got := tl.Conns[2].Name; got != "stock.example" {
		t.Errorf("after the pause it is called %q", got)
	}
}
