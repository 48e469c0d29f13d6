package hypotheses

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
)

// AskSyntax lists the changes for which a replay of a server can be asked.
const AskSyntax = "SERVER work xN | SERVER work FUNCTION xN | SERVER servers +N | SERVER load xN"

// Servers lists the servers that requests waited for, the longest wait first, as a replay can be asked of them. Each
// comes with how busy it is and whether the model reproduces the recording.
func Servers(c *diagnosis.Case) (out []diagnosis.Server) {
	for _, s := range stations(c) {
		m, fit := s.measures(c), s.unchanged().fit
		x := diagnosis.Server{
			Name: s.called(), Servers: s.model.Servers, Fits: s.fits(), Turns: s.turns,
			Busy:       diagnosis.Share(m.Utilisation) * (diagnosis.Whole / diagnosis.Share(queueing.One)),
			Queue:      int64(m.Queue),
			Burstiness: int64(m.Burstiness),
			Waits:      diagnosis.ShareOf(int64(s.waited()), int64(c.Time())),
			Recorded:   fit.Recorded, Replayed: fit.Replayed,
		}
		pieces := s.pieces(c)
		for _, at := range pieces.list[:min(len(pieces.list), 3)] {
			x.Work = append(x.Work, diagnosis.Work{Function: at.name, Place: at.place(c), Share: pieces.share(at.name)})
		}
		out = append(out, x)
	}
	return out
}

// WhatIf replays the recorded arrivals at a server with a change; AskSyntax lists the changes.
func WhatIf(c *diagnosis.Case, ask string) (diagnosis.WhatIf, error) {
	for _, s := range stations(c) {
		change, ok := strings.CutPrefix(ask, s.called()+" ")
		if !ok {
			continue
		}
		p, err := s.asked(c, strings.Fields(change))
		if err != nil {
			return diagnosis.WhatIf{}, err
		}
		if !s.fits() {
			return diagnosis.WhatIf{}, s.misfit()
		}
		return s.whatIf(p), nil
	}
	return diagnosis.WhatIf{}, fmt.Errorf("no such server; %s", askable(c))
}

// Load replays a multiple of the recorded load through each server alone, and says at which load p99 doubles.
func Load(c *diagnosis.Case, times string) (out []diagnosis.WhatIf, err error) {
	load, err := ratio(times)
	if err != nil {
		return nil, err
	}
	for _, s := range stations(c) {
		if s.turns || !s.fits() {
			continue
		}
		out = append(out, s.whatIf(plan{"load " + times, "", queueing.Change{Load: load}}))
		if k, ok := s.knee(); ok {
			out = append(out, k)
		}
	}
	if out == nil {
		return nil, errors.New("no server that requests waited for has a model that reproduces the recording with all of its work known, so dwell cannot say what more load would do; " + askable(c))
	}
	return out, nil
}

// misfit says how far the model is from the recording.
func (s *station) misfit() error {
	f := s.unchanged().fit
	return fmt.Errorf("the model of %s does not reproduce the recording: requests waited for it %s on average (p99 %s), in the model %s (p99 %s); so the model predicts nothing",
		s.called(), diagnosis.Human(f.Recorded), diagnosis.Human(f.RecordedP99), diagnosis.Human(f.Replayed), diagnosis.Human(f.ReplayedP99))
}

// askable lists what may be asked of this recording.
func askable(c *diagnosis.Case) string {
	var names []string
	for _, s := range stations(c) {
		if s.fits() {
			names = append(names, "'"+s.called()+"'")
		}
	}
	if names == nil {
		return "in this recording no request waited for a server that the model reproduces"
	}
	return "SERVER is one of " + strings.Join(names, ", ") + "; the changes are: " + AskSyntax
}

// asked parses a change.
func (s *station) asked(c *diagnosis.Case, words []string) (plan, error) {
	bad := fmt.Errorf("%q is no change of %s; the changes are: %s", strings.Join(words, " "), s.called(), AskSyntax)
	if len(words) < 2 {
		return plan{}, bad
	}
	last := words[len(words)-1]
	p := plan{ask: strings.Join(words, " ")}
	if words[0] == "servers" && len(words) == 2 {
		n, err := strconv.Atoi(strings.TrimPrefix(last, "+"))
		if err != nil || n < 1 || n > mostServers || !strings.HasPrefix(last, "+") {
			return plan{}, bad
		}
		p.More, p.words = n, diagnosis.Thousands(int64(n))+" more of it, if nothing that they share is short"
		return p, nil
	}
	r, err := ratio(last)
	switch {
	case err != nil:
		return plan{}, err
	case words[0] == "load" && len(words) == 2 && s.turns:
		return plan{}, fmt.Errorf("only those turns of %s are recorded that something waited for: the effect of more load is not known", s.called())
	case words[0] == "load" && len(words) == 2 && r > 0:
		p.Load, p.words = r, ratioWords(r)+" times as many requests"
	case words[0] == "work" && len(words) == 2:
		p.Less, p.words = queueing.One-r, "its work "+last
	case words[0] == "work":
		return s.askedPiece(c, strings.Join(words[1:len(words)-1], " "), r)
	default:
		return plan{}, bad
	}
	return p, nil
}

// askedPiece is a change of the work that a server does in one function.
func (s *station) askedPiece(c *diagnosis.Case, function string, r queueing.Ratio) (plan, error) {
	pieces := s.pieces(c)
	var known []string
	for _, at := range pieces.list {
		if at.name == function {
			return plan{"work " + function + " x" + ratioWords(r), "its work in " + at.place(c) + " x" + ratioWords(r), queueing.Change{Less: queueing.One - r, Of: s.part(c, function)}}, nil
		}
		known = append(known, at.name)
	}
	if known == nil {
		return plan{}, fmt.Errorf("the work of %s was not sampled: ask without a function, or record with stacks", s.called())
	}
	return plan{}, fmt.Errorf("%s was not seen to work in %q; it was in: %s", s.called(), function, strings.Join(known[:min(len(known), 8)], ", "))
}

// The largest numbers that may be asked for.
const (
	mostServers = 1000
	mostTimes   = 100 * queueing.One
)

// ratio reads "x1.5" as thousandths.
func ratio(text string) (queueing.Ratio, error) {
	bad := fmt.Errorf("%q is no factor: write it as x0.5 or x2 (at most x100, in thousandths)", text)
	digits, ok := strings.CutPrefix(text, "x")
	whole, part, _ := strings.Cut(digits, ".")
	if !ok || whole == "" || len(part) > 3 {
		return 0, bad
	}
	n, err := strconv.ParseUint(whole+(part + "000")[:3], 10, 32)
	if err != nil || queueing.Ratio(n) > mostTimes {
		return 0, bad
	}
	return queueing.Ratio(n), nil
}
