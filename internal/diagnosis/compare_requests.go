package diagnosis

import "slices"

// findings lines up the findings of both sides.
func (c *Comparison) findings(a, b *Diagnosis) {
	for i := range a.Findings {
		f := &a.Findings[i]
		c.Findings = append(c.Findings, FindingPair{ID: f.ID, Endpoint: f.Impact.Endpoint, A: f})
	}
	for i := range b.Findings {
		f := &b.Findings[i]
		if p := c.finding(f); p != nil {
			p.B = f
			continue
		}
		c.Findings = append(c.Findings, FindingPair{ID: f.ID, Endpoint: f.Impact.Endpoint, B: f})
	}
	for i := range c.Findings {
		switch p := &c.Findings[i]; {
		case p.B == nil:
			p.Unclear = b.unclear(p.ID, p.Endpoint)
		case p.A == nil:
			p.Unclear = a.unclear(p.ID, p.Endpoint)
		}
	}
}

// unclear returns why a diagnosis without a finding at an endpoint does not mean that there is none; "" if it does.
func (d *Diagnosis) unclear(id, endpoint string) string {
	n := len(d.Overall.Requests)
	if endpoint != "" {
		n = 0
		if i := slices.IndexFunc(d.Symptoms, func(s Symptom) bool { return s.Endpoint == endpoint }); i >= 0 {
			n = len(d.Symptoms[i].Requests)
		}
	}
	if n < d.Options.MinRequests {
		return Plural(n, "request") + " there, at least " + Thousands(int64(d.Options.MinRequests)) + " needed"
	}
	if i := slices.IndexFunc(d.Undecided, func(o Outcome) bool { return o.ID == id }); i >= 0 {
		return d.Undecided[i].Missing
	}
	return ""
}

// finding returns the same finding of A that has no counterpart yet, preferably at the same place.
func (c *Comparison) finding(f *Finding) *FindingPair {
	var same *FindingPair
	for i := range c.Findings {
		p := &c.Findings[i]
		if p.A == nil || p.B != nil || p.ID != f.ID || p.Endpoint != f.Impact.Endpoint {
			continue
		}
		if p.A.Place == f.Place {
			return p
		}
		if same == nil {
			same = p
		}
	}
	return same
}

// endpoints lines up the endpoints of both sides, with what the findings that are not found again were predicted to
// save.
func (c *Comparison) endpoints(a, b *Diagnosis) {
	index := map[string]int{}
	for i := range a.Symptoms {
		s := &a.Symptoms[i]
		index[s.Endpoint] = len(c.Endpoints)
		c.Endpoints = append(c.Endpoints, EndpointPair{Name: s.Endpoint, NA: len(s.Requests), P50A: s.P50, P99A: s.P99, Noise50: s.Noise50, Noise99: s.Noise99})
	}
	for i := range b.Symptoms {
		s := &b.Symptoms[i]
		k, known := index[s.Endpoint]
		if !known {
			k = len(c.Endpoints)
			c.Endpoints = append(c.Endpoints, EndpointPair{Name: s.Endpoint})
		}
		e := &c.Endpoints[k]
		e.NB, e.P50B, e.P99B = len(s.Requests), s.P50, s.P99
		e.Noise50, e.Noise99 = max(e.Noise50, s.Noise50), max(e.Noise99, s.Noise99)
	}
	for i := range c.Findings {
		p := &c.Findings[i]
		if p.A == nil || p.B != nil {
			continue
		}
		for _, im := range append([]Impact{p.A.Impact}, p.A.Also...) {
			if k, known := index[im.Endpoint]; known && c.Endpoints[k].NB >= b.Options.MinRequests {
				e := &c.Endpoints[k]
				e.Predicted50 += im.P50
				e.Predicted99 += im.P99
				e.AnyPredicted, e.AtLeast = true, e.AtLeast || p.A.AtLeast
			}
		}
	}
}
