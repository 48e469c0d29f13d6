package recording

// commandFact checks what is said of protocols other than HTTP.
func (v *validator) commandFact(fact Fact) {
	switch f := fact.(type) {
	case *Command:
		if c := v.outbound(f.Conn); c != nil {
			v.head(head{conn: f.Conn, dir: Write, offset: f.Offset})
		}
		v.notNegative("length", f.Length) // its end may lie behind that of the recording
	case *Reply:
		if c := v.outbound(f.Conn); c != nil {
			v.head(head{conn: f.Conn, dir: Read, offset: f.Offset})
		}
		v.notNegative("length", f.Length)
		v.notNegative("skipped", f.Skipped)
	case *Datagram:
		v.thread(f.Thread)
		v.notNegative("bytes", f.Bytes)
		v.notNegative("messages", f.Messages)
	default:
		v.goFact(fact)
	}
}

// outbound returns a connection, nil if it was not declared. Commands are looked for
// only where the watched process is the client.
func (v *validator) outbound(id ConnID) *connBytes {
	c := v.conn(id)
	if c != nil && c.side != Outbound {
		v.report("connection %d is not outbound", id)
	}
	return c
}
