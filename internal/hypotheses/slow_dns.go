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
		Doc: "Requests wait until a host name has an address.\n\n" +
			"Support: the look-up phase of requests' calls, and waits for the answers to look-ups that belong to no call: something resolves names without connecting to them. Look-ups that end without an address (search domains) and those " +
			"without any answer are counted. So are look-ups that are asked again because no answer came, or by the name that exists. What they wait until then counts here only. What a request waits before a connection is opened for it, while " +
			"as many names of others are looked up as ever are at once, counts too.\n\n" +
			"Not this: names answered from a file or a cache in the process send no look-up and cost none.\n\n" +
			"Saving: those waits are taken out of each request. What is computed to ask and to read answers cannot be told from other work, so the saving is a lower bound.",
		Needs: []string{recording.HookDNS},
		Test:  testSlowDNS,
	}
}

const rcodeNameError = 3

func testSlowDNS(c *diagnosis.Case) diagnosis.Result {
	spans := c.SpansAmong(func(r *timeline.Request) bool { return r.HasPhase(timeline.PhaseDNS) }, func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseDNS })
	var took []Duration
	var windows []window
	unanswered := 0
	var silent silence
	var searched search
	for i := range c.Lookups {
		l := &c.Lookups[i]
		silent.add(l)
		if l.To == recording.NoTime {
			unanswered++
			continue
		}
		took = append(took, l.To.Sub(l.From))
		windows = append(windows, window{l.From, l.To})
		searched.add(l)
	}
	slices.Sort(took)
	share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent in look-ups", share),
		diagnosis.Count("look-ups", len(c.Lookups)),
		diagnosis.NS("p99 of a look-up", diagnosis.Quantile(took, 99)),
		diagnosis.Count("look-ups of names that do not exist", searched.misses),
		diagnosis.Count("look-ups without an answer", unanswered),
	}
	if silent.times > 0 {
		ev = append(ev, diagnosis.Count("look-ups repeated because no answer came", silent.times), diagnosis.NS("mean time until they were repeated", silent.waited/Duration(silent.times)))
	}
	res := diagnosis.Result{Evidence: ev, Hidden: hiddenIn(c, windows), Lead: dnsLead(c, share)}
	if len(spans) > 0 {
		turn := newBehindLookups(c)
		own := aimlessLookups(c)
		res.Candidates = []diagnosis.Candidate{{
			Place:    "the resolver",
			Title:    "Name resolution is slow: " + diagnosis.Percent(share) + " of all request time is spent in look-ups" + turn.words(c) + silent.words(c) + searched.words(c) + own.words(c, diagnosis.Total(spans)),
			Fix:      silent.fix() + searched.fix() + own.fix() + turn.fix() + "keep connections open so that fewer look-ups are needed; cache answers (nscd, systemd-resolved, NodeLocal DNSCache)",
			Next:     "query the resolver directly (dig) and compare",
			Spans:    append(spans, turn.spans...),
			AtLeast:  true, // what is computed to ask, and to read answers, cannot be told from other work
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

// words says which server did not answer how many of them; "" if all were answered.
func (s *silence) words(c *diagnosis.Case) string {
	if s.times == 0 {
		return ""
	}
	server, _ := s.servers.most()
	return "; " + diagnosis.Thousands(int64(s.times)) + " of " + diagnosis.Plural(len(c.Lookups), "look-up") + " were repeated after " +
		diagnosis.Human(s.waited/Duration(s.times)) + ", because " + cmp.Or(server, "the first server") + " did not answer"
}

func (s *silence) fix() string {
	if server, _ := s.servers.most(); s.times > 0 && server != "" {
		return "repair " + server + ", or take it out of /etc/resolv.conf (options timeout:1 rotate limits the wait); "
	}
	return ""
}

// search counts look-ups in vain, of names that do not exist, before one that does, as when search domains are tried.
type search struct{ misses, hits int }

func (s *search) add(l *timeline.Lookup) {
	switch {
	case l.Rcode == rcodeNameError:
		s.misses++
	case l.Addrs != "":
		s.hits++
	}
}

// often reports whether there are as many of such look-ups as of those that give an address.
func (s *search) often() bool { return s.hits > 0 && s.misses >= s.hits }

// words says how many look-ups are needless, and how much later each name that exists is asked for; "" if they are few.
func (s *search) words(c *diagnosis.Case) string {
	if !s.often() {
		return ""
	}
	said := "; " + diagnosis.Thousands(int64(s.misses)) + " of " + diagnosis.Plural(len(c.Lookups), "look-up") + " are needless: search domains are tried first, and those names do not exist; " +
		diagnosis.Thousands(int64((s.misses+s.hits/2)/s.hits)) + " for each name that exists"
	var vain Duration
	calls := 0
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Request != timeline.None && k.DNSTo != recording.NoTime {
			vain, calls = vain+k.InVain, calls+1
		}
	}
	if vain > 0 {
		said += ", which delays its own look-up by " + diagnosis.Human(vain/Duration(calls))
	}
	return said
}

func (s *search) fix() string {
	if !s.often() {
		return ""
	}
	return "ask for the full name first: write it with a final dot, or lower ndots (options ndots:1 in /etc/resolv.conf, dnsConfig of a pod); "
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
	return "no look-up was needed: no connection was opened during " + diagnosis.Plural(len(c.Overall.Requests), "request")
}
