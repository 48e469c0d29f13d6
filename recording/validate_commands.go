package recording

// commandFact checks facts about protocols other than HTTP.
func (v *validator) commandFact(fact Fact) {
	switch f := fact.(type) {
	case *Command:
		if c := v.outbound(f.Conn); c != nil {
			v.head(head{conn: f.Conn, dir: Write, offset: f.Offset})
		}
		v.notNegative("length", f.Length) // it may end after the recording
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

// outbound returns a connection, or nil if it was not declared. Commands are recorded only if the watched process is
// the client.
func (v *validator) outbound(id ConnID) *connBytes {
	c := v.conn(id)
	if c != nil && c.side != Outbound {
		v.report("connection %d is not outbound", id)
	}
	return c
}
