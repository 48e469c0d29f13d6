package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func slowDNS() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "slow-dns",
		Title: "Name resolution is slow",
		Doc: "Supported by the look-up phase of requests' calls, and by waits for the answers to look-ups that belong to no call: something resolves names without connecting to them. Look-ups that end without an address (search domains) and those without any answer " +
			"are counted, and those that are asked again for want of one: what they wait until then is no other suspect's. Names answered from a file or a cache in the process send no look-up and cost none.",
		Needs: []string{recording.HookDNS},
		Test:  testSlowDNS,
	}
}

const rcodeNameError = 3

func testSlowDNS(c *diagnosis.Case) diagnosis.Result {
	spans := c.SpansAmong(func(r *timeline.Request) bool { return r.HasPhase(timeline.PhaseDNS) }, func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseDNS })
	var took []Duration
	var windows []window
	misses, unanswered := 0, 0
	var silent silence
	for i := range c.Lookups {
		l := &c.Lookups[i]
		silent.add(l)
		if l.To == recording.NoTime {
			unanswered++
			continue
		}
		took = append(took, l.To.Sub(l.From))
		windows = append(windows, window{l.From, l.To})
		if l.Rcode == rcodeNameError {
			misses++
		}
	}
	slices.Sort(took)
	share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is look-ups", share),
		diagnosis.Count("look-ups", len(c.Lookups)),
		diagnosis.NS("p99 of a look-up", diagnosis.Quantile(took, 99)),
		diagnosis.Count("look-ups of names that do not exist", misses),
		diagnosis.Count("look-ups without an answer", unanswered),
	}
	if silent.times > 0 {
		ev = append(ev, diagnosis.Count("look-ups that were asked again for want of an answer", silent.times), diagnosis.NS("mean time until they were", silent.waited/Duration(silent.times)))
	}
	res := diagnosis.Result{Evidence: ev, Hidden: hiddenIn(c, windows), Lead: dnsLead(c, share)}
	if len(spans) > 0 {
		own := aimlessLookups(c)
		res.Candidates = []diagnosis.Candidate{{
			Place: "the resolver",
			Title: "Name resolution is slow: " + diagnosis.Percent(share) + " of all request time is look-ups" + silent.words(c) + own.words(c, diagnosis.Total(spans)),
			Fix: silent.fix() + own.fix() + "keep connections open so that fewer look-ups are needed; cache answers (nscd, systemd-resolved, NodeLocal DNSCache); " +
				"write names with a final dot or lower ndots where search domains miss",
			Next:     "ask the resolver directly (dig) and compare",
			Spans:    spans,
			AtLeast:  true, // what is computed to ask, and to read answers, is not told from other work
			Evidence: ev,
		}}
	}
	return res
}

// silence is what look-ups waited for servers that did not answer.
type silence struct {
	times   int
	waited  Duration
	servers tally
}

func (s *silence) add(l *timeline.Lookup) {
	if l.Again == recording.NoTime {
		return
	}
	if s.servers == nil {
		s.servers = tally{}
	}
	s.times++
	s.waited += l.Again.Sub(l.From)
	s.servers[l.Server] += l.Again.Sub(l.From)
}

// words say who did not answer how many of them, "" if all did.
func (s *silence) words(c *diagnosis.Case) string {
	if s.times == 0 {
		return ""
	}
	server, _ := s.servers.most()
	return "; " + diagnosis.Thousands(int64(s.times)) + " of " + diagnosis.Plural(len(c.Lookups), "look-up") + " had to be asked again after " +
		diagnosis.Human(s.waited/Duration(s.times)) + ", as " + cmp.Or(server, "the server asked first") + " did not answer"
}

func (s *silence) fix() string {
	if server, _ := s.servers.most(); s.times > 0 && server != "" {
		return "mend " + server + ", or take it out of /etc/resolv.conf (options timeout:1 rotate bounds the wait); "
	}
	return ""
}

// dnsLead says how much time look-ups take, or how many chances there were for one.
func dnsLead(c *diagnosis.Case, share diagnosis.Share) string {
	opened := 0
	for i := range c.Conns {
		if cn := &c.Conns[i]; cn.Side == recording.Outbound && !cn.Existing {
			opened++
		}
	}
	switch {
	case share > 0:
		return "look-ups take " + diagnosis.Percent(share) + " of all request time"
	case len(c.Lookups) > 0:
		return "no request waited for one of " + diagnosis.Plural(len(c.Lookups), "look-up")
	case opened > 0:
		return "no look-up was sent for " + diagnosis.Plural(opened, "new connection")
	}
	return "no name was needed: no connection was opened during " + diagnosis.Plural(len(c.Overall.Requests), "request")
}
