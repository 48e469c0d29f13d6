package main

import (
	"errors"
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/spf13/cobra"
)

// asking holds the questions for a replay of the recorded arrivals.
type asking struct {
	whatIf string // "lock S.rebuild work x0.5", or "list"
	load   string // "x1.5"
}

func (a asking) any() bool { return a.whatIf != "" || a.load != "" }

const (
	whatIfUsage = "replay the recorded arrivals with a change: " + hypotheses.AskSyntax + "; 'list' names the servers that requests waited for, and their work"
	loadUsage   = "replay a multiple of the recorded load, such as x1.5, and say at which load p99 doubles"
)

func (a *asking) flags(c *cobra.Command) {
	c.Flags().StringVar(&a.whatIf, "what-if", "", whatIfUsage)
	c.Flags().StringVar(&a.load, "load", "", loadUsage)
}

// whatIf answers these questions.
func whatIf(w world, g *globals, o whyOptions) error {
	if o.ask.whatIf != "" && o.ask.load != "" {
		return errors.New("dwell why: --what-if or --load, not both (--what-if 'SERVER load x1.5' asks one server)")
	}
	o.tells = false
	got, err := o.rebuild(w)
	if err != nil {
		return err
	}
	c := diagnosis.NewCase(got.Timeline, diagnosis.Options{Endpoint: o.endpoint})
	if len(c.Measured()) == 0 {
		return fmt.Errorf("dwell %s %s: no whole request in it to replay (dwell why says what was recorded)", o.command, o.path)
	}
	plays, err := o.ask.play(c)
	if err != nil {
		return fmt.Errorf("dwell %s %s: %w", o.command, o.path, err)
	}
	view := report.BuildServers(hypotheses.Servers(c), plays)
	if o.json {
		return report.ServersJSON(w.out, view)
	}
	width, _ := terminal(w.out)
	return report.ServersText(w.out, view, report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width})
}

func (a asking) play(c *diagnosis.Case) ([]diagnosis.WhatIf, error) {
	switch {
	case a.load != "":
		plays, err := hypotheses.Load(c, a.load)
		if err != nil {
			err = fmt.Errorf("--load %s: %w", a.load, err)
		}
		return plays, err
	case a.whatIf == "list":
		return nil, nil
	}
	p, err := hypotheses.WhatIf(c, a.whatIf)
	if err != nil {
		return nil, fmt.Errorf("--what-if '%s': %w", a.whatIf, err)
	}
	return []diagnosis.WhatIf{p}, nil
}
