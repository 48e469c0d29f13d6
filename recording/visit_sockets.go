package recording

// Kind implements Fact.
func (*Listen) Kind() Kind { return KindListen }

// Visit implements Fact.
func (f *Listen) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("port", &f.Port)
	v.Int("backlog", &f.Backlog)
}

// Kind implements Fact.
func (*Backlog) Kind() Kind { return KindBacklog }

// Visit implements Fact.
func (f *Backlog) Visit(v Visitor) {
	v.Int("port", &f.Port)
	v.Int("depth", &f.Depth)
	v.Int("limit", &f.Limit)
}

// Kind implements Fact.
func (*Conn) Kind() Kind { return KindConn }

// Visit implements Fact.
func (f *Conn) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Enum("side", sideNames, (*int64)(&f.Side))
	v.Int("process", (*int64)(&f.Process))
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("parent", (*int64)(&f.Parent))
	v.Str("local", &f.Local)
	v.Str("peer", &f.Peer)
	v.Int("existing", &f.Existing)
	v.Int("exec", &f.Exec)
	v.Int("trigger", &f.Trigger)
	v.Int("counter", &f.Counter)
	v.Int("before", (*int64)(&f.Before))
	v.Int("context", (*int64)(&f.Context))
	v.Int("round-trip", &f.RoundTrip)
}

// Kind implements Fact.
func (*Established) Kind() Kind { return KindEstablished }

// Visit implements Fact.
func (f *Established) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
}

// Kind implements Fact.
func (*Closed) Kind() Kind { return KindClosed }

// Visit implements Fact.
func (f *Closed) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("by", closerNames, (*int64)(&f.By))
	v.Int("thread", (*int64)(&f.Thread))
}

// Kind implements Fact.
func (*ConnProtocol) Kind() Kind { return KindConnProtocol }

// Visit implements Fact.
func (f *ConnProtocol) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("protocol", protocolNames, (*int64)(&f.Protocol))
}

// Kind implements Fact.
func (*Chunk) Kind() Kind { return KindChunk }

// Visit implements Fact.
func (f *Chunk) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("dir", directionNames, (*int64)(&f.Dir))
	v.Int("offset", &f.Offset)
	v.Int("bytes", &f.Bytes)
	v.Int("arrived", (*int64)(&f.Arrived))
	v.Int("last", (*int64)(&f.Last))
	v.Int("merged", &f.Merged)
	v.Int("first", (*int64)(&f.First))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("exec", &f.Exec)
	v.Int("trigger", &f.Trigger)
	v.Int("counter", &f.Counter)
	v.Int("context", (*int64)(&f.Context))
	v.Int("contexts", &f.Contexts)
}

// Kind implements Fact.
func (*HTTPRequest) Kind() Kind { return KindHTTPRequest }

// Visit implements Fact.
func (f *HTTPRequest) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("head", &f.Head)
	v.Str("method", &f.Method)
	v.Str("route", &f.Route)
	v.Str("host", &f.Host)
	v.Str("operation", &f.Operation)
	v.Int("length", &f.Length)
	v.Int("close", &f.Close)
	v.Int("upgrade", &f.Upgrade)
}

// Kind implements Fact.
func (*HTTPResponse) Kind() Kind { return KindHTTPResponse }

// Visit implements Fact.
func (f *HTTPResponse) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("head", &f.Head)
	v.Int("status", &f.Status)
	v.Int("length", &f.Length)
	v.Int("close", &f.Close)
	v.Int("upgrade", &f.Upgrade)
}

// Kind implements Fact.
func (*TLS) Kind() Kind { return KindTLS }

// Visit implements Fact.
func (f *TLS) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("dir", directionNames, (*int64)(&f.Dir))
	v.Enum("record", tlsNames, (*int64)(&f.Record))
	v.Int("offset", &f.Offset)
	v.Int("bytes", &f.Bytes)
	v.Str("sni", &f.SNI)
	v.Int("version", &f.Version)
	v.Enum("resumed", tristateNames, (*int64)(&f.Resumed))
}

// Kind implements Fact.
func (*DNS) Kind() Kind { return KindDNS }

// Visit implements Fact.
func (f *DNS) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("part", dnsNames, (*int64)(&f.Part))
	v.Int("id", &f.ID)
	v.Str("name", &f.Name)
	v.Str("type", &f.Type)
	v.Int("rcode", &f.Rcode)
	v.Str("addrs", &f.Addrs)
	v.Str("server", &f.Server)
	v.Int("arrived", (*int64)(&f.Arrived))
}

// Kind implements Fact.
func (*Command) Kind() Kind { return KindCommand }

// Visit implements Fact.
func (f *Command) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("length", &f.Length)
	v.Str("operation", &f.Operation)
	v.Str("target", &f.Target)
}

// Kind implements Fact.
func (*Reply) Kind() Kind { return KindReply }

// Visit implements Fact.
func (f *Reply) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("length", &f.Length)
	v.Enum("outcome", outcomeNames, (*int64)(&f.Outcome))
	v.Str("code", &f.Code)
	v.Str("operation", &f.Operation)
	v.Enum("transaction", transactionNames, (*int64)(&f.Transaction))
	v.Int("skipped", &f.Skipped)
}

// Kind implements Fact.
func (*Datagram) Kind() Kind { return KindDatagram }

// Visit implements Fact.
func (f *Datagram) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Enum("protocol", protocolNames, (*int64)(&f.Protocol))
	v.Str("peer", &f.Peer)
	v.Int("bytes", &f.Bytes)
	v.Int("messages", &f.Messages)
}
