package protocol

import (
	"bytes"

	"github.com/getdwell/dwell/recording"
)

// answer takes a message of the server. A reply is everything up to a ReadyForQuery. Notices and similar messages
// between replies belong to no reply.
func (p *postgres) answer(d *dialogue, at, size int64, m pgMessage) int64 {
	if bytes.IndexByte([]byte("RKSZTDCE123ntsIANVGHWdcv"), m.kind) < 0 {
		return -1
	}
	if d.reply == nil && !p.quiet {
		if m.kind == 'N' || m.kind == 'A' || m.kind == 'S' {
			return size
		}
		p.quiet = !d.answers(at)
	}
	if p.quiet {
		p.quiet = m.kind != 'Z'
		return size
	}
	f := d.reply
	switch m.kind {
	case 'C':
		if verb := sqlVerb(m.body); f.Operation == "" || frames(f.Operation) {
			f.Operation = verb
		}
	case 'E':
		f.Outcome, f.Code = postgresError(m.body)
	case 'Z':
		if f.Outcome == recording.OutcomeUnknown {
			f.Outcome = recording.OutcomeOK
		}
		if len(m.body) > 0 {
			f.Transaction = transaction(m.body[0])
		}
		d.answered(at + size)
	}
	return size
}

func transaction(status byte) recording.Transaction {
	switch status {
	case 'I':
		return recording.TransactionIdle
	case 'T':
		return recording.TransactionOpen
	case 'E':
		return recording.TransactionFailed
	}
	return recording.TransactionUnknown
}

// postgresError reads the fields of an error: each is a letter, and text up to a zero byte. Only the severity and the
// SQLSTATE are used.
func postgresError(body []byte) (recording.Outcome, string) {
	outcome, code := recording.OutcomeError, ""
	for len(body) > 1 && body[0] != 0 {
		value, rest, ok := bytes.Cut(body[1:], []byte{0})
		if !ok {
			break
		}
		switch body[0] {
		case 'S', 'V': // V is not translated; S comes first
			if string(value) == "FATAL" || string(value) == "PANIC" {
				outcome = recording.OutcomeFatal
			}
		case 'C':
			if sqlState(value) {
				code = string(value)
			}
		}
		body = rest
	}
	return outcome, code
}

func sqlState(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(b) == 5
}
