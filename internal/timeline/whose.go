package timeline

import "github.com/getdwell/dwell/recording"

// Owner is a request that a call may belong to: it was being served while the call was under way, or a rule proposed
// it.
type Owner struct {
	Request RequestID
	Rules   []string // rules that proposed it and were overruled, in order
	Bar     Bar      // why the call cannot belong to it, or BarNone
}

// Bar is the reason why a call cannot belong to a request.
type Bar int8

// Bars.
const (
	BarNone     Bar = iota
	BarUnread       // the request was not yet read when the call was sent
	BarAnswered     // its response was complete before the call was sent
	BarSession      // the session in which the call was sent was in a transaction of another request
)

// String returns the name in the JSON contract.
func (b Bar) String() string { return [...]string{"", "unread", "answered", "session"}[b] }

// Owners returns the requests that a call may belong to, other than the one it was given to: first those that rules
// proposed, then the other requests that were open, in order of start.
func (t *Timeline) Owners(id CallID) []Owner {
	c := &t.Calls[id]
	session := t.sessionOf(c)
	var all []Owner
	place := map[RequestID]int{}
	add := func(r RequestID) *Owner {
		i, ok := place[r]
		if !ok {
			i = len(all)
			place[r], all = i, append(all, Owner{Request: r, Bar: t.bar(c, session, r)})
		}
		return &all[i]
	}
	for _, p := range t.Overruled(id) {
		if p.Request != c.Request {
			o := add(p.Request)
			o.Rules = append(o.Rules, p.Rule)
		}
	}
	for i := range t.Requests { // in order of start
		r := &t.Requests[i]
		if r.Start > c.End {
			break
		}
		if r.Process == c.Process && r.ID != c.Request && r.End >= sentAt(c) {
			add(r.ID)
		}
	}
	return all
}

// sessionOf returns the request whose transaction was open in the session when a call was sent there, or None.
func (t *Timeline) sessionOf(c *Call) RequestID {
	if c.Ordinal > 0 {
		for i := range t.Calls {
			before := &t.Calls[i]
			if before.Conn == c.Conn && before.Ordinal == c.Ordinal-1 && InTransaction(before) {
				return before.Request
			}
		}
	}
	return None
}

// bar returns why a call cannot belong to a request. If session is not None, the call's session is in that request's
// transaction.
func (t *Timeline) bar(c *Call, session, id RequestID) Bar {
	r, sent := &t.Requests[id], sentAt(c)
	switch {
	case r.FirstRead == recording.NoTime || r.FirstRead > sent:
		return BarUnread
	case r.End < sent:
		return BarAnswered
	case session != None && session != id:
		return BarSession
	}
	return BarNone
}

// sentAt returns when a call was sent or, if that was not seen, when it began.
func sentAt(c *Call) Time {
	if c.SendFrom != recording.NoTime {
		return c.SendFrom
	}
	return c.Start
}

// RuleText returns a sentence that says what a rule (a code of Call.Why) rests on; "" for an unknown code.
func RuleText(code string) string { return CallTexts()[code] }

// CallTexts returns those sentences, by the codes of Call.Why.
func CallTexts() map[string]string {
	return map[string]string{
		WhyThread:           "the thread that sent it served this request and no other",
		WhyGoroutine:        "the request's own goroutine sent it",
		WhyGoCall:           "the request's goroutine handed it to a pooled connection",
		WhyGoChild:          "a goroutine that the request's goroutine started sent it",
		WhyGoDial:           "the request's goroutine dialled the new connection it was sent on",
		WhyAsync:            "Node's async ids lead to the request",
		WhyAsyncHint:        "by Node's async ids it was made, and answered, in the request's turns of the loop",
		WhyTurnTold:         "it was sent in a turn of the loop that, by its promises, is the request's",
		WhyTurn:             "it was sent in the turn of an answer to the request's call, and responses confirm that rule",
		WhyAwaitedSet:       "what awaits it awaits other calls too, and most of those are the request's",
		WhyInLine:           "the request stood first in line for a connection of a full pool",
		WhyShared:           "the order in which requests could send on a connection that several share",
		WhyLoopSingle:       "the request was the only one open on the loop",
		WhyLoopChain:        "the loop had read that request's bytes last, and the loop's responses confirm that rule",
		WhyNoOwner:          "no request was being served where it was sent",
		WhyReused:           "a pooled connection of Go was reused, and what handed the call to it was not seen",
		WhyAmbiguous:        "several requests were open on the loop",
		WhyAwaited:          "the request awaits the promise that the answer resolved",
		WhyContext:          "it was sent in the request's Python context, or in a copy of it",
		WhyNoContext:        "it was sent in a Python context that belongs to no open request",
		WhyNoAsync:          "Node's async ids lead to no request, and there is no other evidence",
		WhyHandOff:          "the thread that sent it was woken for work by the request's thread",
		WhyHandOffEnd:       "the thread that sent it then delivered a result to the request's thread",
		WhyHandOffAnswer:    "its answer was delivered to the request's thread",
		WhyHandOffOnly:      "one request was open while the thread worked for others",
		WhyHandOffOrder:     "by the order of the workers' queue, no other request can have put it in",
		WhyHandOffTaken:     "the thread worked on what the request had put into a queue",
		WhyHandOffAmbiguous: "the thread works for several requests, and there is no evidence for which",
	}
}
