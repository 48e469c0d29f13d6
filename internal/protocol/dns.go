package protocol

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/getdwell/dwell/recording"
)

// maxAddrs bounds the answers kept of one DNS message.
const maxAddrs = 32

// DNS reads one DNS message as sent over UDP, or its captured beginning. It accepts standard queries with one
// question. The caller sets Thread, Server and Arrived.
func DNS(payload []byte) (recording.DNS, bool) {
	var f recording.DNS
	var p dnsmessage.Parser
	head, err := p.Start(payload)
	if err != nil || head.OpCode != 0 {
		return f, false
	}
	q, err := p.Question()
	if err != nil || p.SkipQuestion() != dnsmessage.ErrSectionDone {
		return f, false
	}
	if f.Name = hostName(q.Name.String() + ":"); f.Name == "" {
		return f, false
	}
	f.ID = int64(head.ID)
	f.Type = strings.TrimPrefix(q.Type.String(), "Type")
	if !head.Response {
		return f, true
	}
	f.Part, f.Rcode = recording.DNSAnswer, int64(head.RCode)
	var addrs []string
	for len(addrs) < maxAddrs {
		h, err := p.AnswerHeader()
		if err != nil { // after the last answer, or cut
			break
		}
		addr, ok := address(&p, h.Type)
		if !ok {
			break
		}
		if addr != "" {
			addrs = append(addrs, addr)
		}
	}
	f.Addrs = strings.Join(addrs, " ")
	return f, true
}

// address reads one answer: "" if it is not an address, false if it was cut.
func address(p *dnsmessage.Parser, t dnsmessage.Type) (string, bool) {
	switch t {
	case dnsmessage.TypeA:
		r, err := p.AResource()
		return netip.AddrFrom4(r.A).String(), err == nil
	case dnsmessage.TypeAAAA:
		r, err := p.AAAAResource()
		return netip.AddrFrom16(r.AAAA).String(), err == nil
	}
	return "", p.SkipAnswer() == nil
}
