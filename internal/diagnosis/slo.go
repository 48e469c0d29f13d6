package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SLO is a latency that was promised.
type SLO struct {
	Text     string   // as it was given
	Endpoint string   // "" all
	Percent  int      // which percentile: 99 for p99
	Bound    Duration // the percentile must be less than this
	Per      Duration // in each window of this length; 0: in the whole recording
}

// ParseSLO reads "GET /price p99<20ms per 1m". Without an endpoint it applies to all, without "per" to the whole
// recording.
func ParseSLO(text string) (s SLO, err error) {
	const form = "want [ENDPOINT] p99<20ms [per 1m]"
	s.Text = strings.Join(strings.Fields(text), " ")
	rest := s.Text
	if at := strings.LastIndex(rest, " per "); at >= 0 {
		if s.Per, err = readDuration(rest[at+len(" per "):]); err != nil {
			return s, fmt.Errorf("per %w (%s)", err, form)
		}
		rest = rest[:at]
	}
	head, bound, ok := strings.Cut(rest, "<")
	if !ok {
		return s, fmt.Errorf("it has no bound (%s)", form)
	}
	if s.Bound, err = readDuration(strings.TrimSpace(bound)); err != nil {
		return s, fmt.Errorf("the bound %w (%s)", err, form)
	}
	head = strings.TrimSpace(head)
	at := strings.LastIndex(head, " ") + 1
	digits, isQuantile := strings.CutPrefix(head[at:], "p")
	s.Endpoint = strings.TrimSpace(head[:at])
	if s.Percent, err = strconv.Atoi(digits); err != nil || !isQuantile || s.Percent < 1 || s.Percent > 100 {
		return s, fmt.Errorf("%q is no quantile: p50, p99 and the like (%s)", head[at:], form)
	}
	return s, nil
}

// readDuration reads a positive whole or decimal number with its unit.
func readDuration(text string) (Duration, error) {
	for _, u := range []struct {
		name string
		size Duration
	}{{"ns", 1}, {"us", 1000}, {"ms", milli}, {"s", 1000 * milli}, {"m", 60_000 * milli}, {"h", 3_600_000 * milli}} {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		whole, part, _ := strings.Cut(digits, ".")
		n, err := strconv.ParseInt(whole+part, 10, 64)
		if err != nil || n <= 0 || n > 1<<40 || len(part) > 6 {
			continue
		}
		d := Duration(n) * u.size
		for range part {
			d /= 10
		}
		return d, nil
	}
	return 0, fmt.Errorf("%q is no duration, as 20ms", text)
}

// SLOResult reports whether a promise was kept.
type SLOResult struct {
	SLO
	Windows  []SLOWindow // those in which requests began, in order
	Broken   int         // number of windows that broke it
	Worst    int         // index of the one with the largest quantile; -1 without requests
	Remedies []Remedy    // for the worst one, if it is broken
}

// SLOWindow is one span in which the promise is checked.
type SLOWindow struct {
	From     Time
	Requests int
	Value    Duration // the quantile
	Met      bool
}

// Remedy is a finding or a lead, and what the worst window's quantile would be without it and the remedies before it.
type Remedy struct {
	ID, Place string
	Value     Duration
	Met       bool // in the worst window
	Lead      bool
}

// promised evaluates the promises.
func (j *judge) promised() (out []SLOResult) {
	for _, s := range j.SLOs {
		out = append(out, j.promise(s))
	}
	return out
}

func (j *judge) promise(s SLO) SLOResult {
	res := SLOResult{SLO: s, Worst: -1}
	per := s.Per
	if per == 0 {
		per = max(1, j.End.Sub(j.Start)+1)
	}
	var ids [][]RequestID
	last := int64(-1)
	for i := range j.Requests { // in order of start
		r := &j.Requests[i]
		if !r.Measured() || s.Endpoint != "" && r.Endpoint != s.Endpoint {
			continue
		}
		n := int64(max(0, r.Start.Sub(j.Start)) / per)
		if n != last || ids == nil {
			ids, last = append(ids, nil), n
			res.Windows = append(res.Windows, SLOWindow{From: j.Start + Time(n)*Time(per)})
		}
		ids[len(ids)-1] = append(ids[len(ids)-1], r.ID)
	}
	none := make([]Duration, len(j.Requests))
	for i := range res.Windows {
		w := &res.Windows[i]
		w.Requests, w.Value = len(ids[i]), j.without(ids[i], none, s.Percent)
		w.Met = w.Value < s.Bound
		if !w.Met {
			res.Broken++
		}
		if res.Worst < 0 || w.Value > res.Windows[res.Worst].Value {
			res.Worst = i
		}
	}
	if res.Broken > 0 {
		res.Remedies = j.remedies(&s, ids[res.Worst])
	}
	return res
}

// without returns a quantile of requests that lose some time each.
func (j *judge) without(ids []RequestID, off []Duration, percent int) Duration {
	list := make([]Duration, 0, len(ids))
	for _, id := range ids {
		list = append(list, j.Requests[id].Duration()-off[id])
	}
	slices.Sort(list)
	return Quantile(list, percent)
}

// remedies removes findings one after another, the largest first, then leads, until the promise would be kept.
func (j *judge) remedies(s *SLO, ids []RequestID) (out []Remedy) {
	off := make([]Duration, len(j.Requests))
	l := newLedger(j.Timeline, nil)
	at := j.without(ids, off, s.Percent)
	for _, lead := range []bool{false, true} {
		from := j.out.Findings
		if lead {
			from = j.out.Leads
		}
		for i := range from {
			cd := j.at(from[i].ID, from[i].Place)
			if cd == nil {
				continue
			}
			left := l.left(cd.spans)
			for _, sp := range left {
				off[sp.Request] += sp.To.Sub(sp.From)
			}
			l.take(left)
			next := j.without(ids, off, s.Percent)
			if at-next < j.Resolution {
				continue // it has no effect on this quantile
			}
			at = next
			out = append(out, Remedy{cd.trial.ID, cd.Place, at, at < s.Bound, lead})
			if at < s.Bound {
				return out
			}
		}
	}
	return out
}

// at returns the candidate of a finding or a lead.
func (j *judge) at(id, place string) *candidate {
	for _, cd := range j.cands {
		if cd.trial.ID == id && cd.Place == place && (cd.taken || cd.lead) {
			return cd
		}
	}
	return nil
}

// Broken reports whether an endpoint's requests break a promised latency.
func (c *Case) Broken(s *Symptom) bool {
	for _, slo := range c.SLOs {
		if slo.Endpoint != "" && slo.Endpoint != s.Endpoint || len(s.Requests) == 0 {
			continue
		}
		if c.Requests[s.Requests[rank(len(s.Requests), slo.Percent)]].Duration() >= slo.Bound {
			return true
		}
	}
	return false
}
