package recording

// Proxying is how a client asks a proxy to relay bytes to another host.
type Proxying int64

// Ways to ask a proxy.
const (
	ProxyConnect Proxying = iota // HTTP's CONNECT
	ProxySOCKS4
	ProxySOCKS5
)

// Tunnel says that an outbound connection leads through a proxy. The bytes before Written and Read are the exchange
// with the proxy; those after them are exchanged with the target. Time is when the proxy's last byte of that exchange
// was read.
type Tunnel struct {
	Conn    ConnID
	Proxy   Proxying
	Written int64  // in each direction, where the bytes for and from the target begin
	Read    int64  //
	Target  string // name or address, and port, as the client requested it; "" not known
	Refused int64  // 1: the proxy refused; no bytes of a target follow
}

// Kind implements Fact.
func (*Tunnel) Kind() Kind { return KindTunnel }

// Visit implements Fact.
func (f *Tunnel) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("proxy", proxyNames, (*int64)(&f.Proxy))
	v.Int("written", &f.Written)
	v.Int("read", &f.Read)
	v.Str("target", &f.Target)
	v.Int("refused", &f.Refused)
}
